-- The sum of all elements of a matrix.
--
-- One element is written: a grid that fills the GPU leaves partial sums, and the block that comes
-- last adds them up.
local s = require "sectile"

return s.kernel {
  name    = "sum_all_f32",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("total", "f32", s.row_major, { dims = {}, reduce = "sum" }) },
  body    = "total = a;",
  sizes   = { { row = 16384, col = 16384 }, { row = 8191, col = 8193 } },
}
