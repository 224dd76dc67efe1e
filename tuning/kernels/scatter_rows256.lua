-- Write rows of 64 floats through an index array: b[pick[row], col] = a[row, col], permuted.
--
-- Rows are whole sectors, so the order in which they are written costs little.
local s = require "sectile"

return s.kernel {
  name    = "scatter_rows256",
  dims    = { "row", "col" },
  inputs  = {
    s.array("pick", "i32", s.row_major, { dims = { "row" } }),
    s.array("a", "f32"),
  },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "m", "col" }, at = { "pick", "col" } }) },
  body    = "b = a;",
  sizes   = { { row = 1 << 21, col = 64, m = 1 << 21, pick = "permuted" } },
}
