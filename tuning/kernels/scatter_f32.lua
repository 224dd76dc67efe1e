-- Write floats through an index array: b[pick[i]] = a[i], permuted.
--
-- Each store touches a sector of its own and fills an eighth of it. Memory takes whole sectors
-- only, so what counts is whether the other seven arrive before the sector leaves the cache.
local s = require "sectile"

return s.kernel {
  name    = "scatter_f32",
  dims    = { "i" },
  inputs  = { s.array("pick", "i32"), s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "m" }, at = { "pick" } }) },
  body    = "b = a;",
  sizes   = { { i = 1 << 24, m = 1 << 24, pick = "permuted" } },
}
