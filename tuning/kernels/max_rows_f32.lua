-- The largest element of each row of a matrix.
--
-- Exact in whatever order: it needs no tolerance. An empty row gives -inf.
local s = require "sectile"

return s.kernel {
  name    = "max_rows_f32",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("top", "f32", s.row_major, { dims = { "row" }, reduce = "max" }) },
  body    = "top = a;",
  sizes   = { { row = 16384, col = 16384 }, { row = 8191, col = 8193 } },
}
