-- Write rows of 16 bytes through an index array: b[pick[i]] = a[i] with four floats a row.
--
-- Each store fills half a sector; the other half comes from elsewhere, later.
local s = require "sectile"

return s.kernel {
  name    = "scatter_f32x4",
  dims    = { "i" },
  inputs  = { s.array("pick", "i32"), s.array("a", "f32x4") },
  outputs = { s.array("b", "f32x4", s.row_major, { dims = { "m" }, at = { "pick" } }) },
  body    = "b = a;",
  sizes   = { { i = 1 << 24, m = 1 << 24, pick = "permuted" } },
}
