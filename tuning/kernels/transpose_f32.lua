-- Transpose a matrix of f32: a copy between two layouts of one index space.
--
-- Rows are contiguous in a, columns in b. One of the two sides is strided unless a tile is
-- exchanged through shared memory; the odd size makes every row start off a sector.
local s = require "sectile"

return s.kernel {
  name    = "transpose_f32",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32", s.row_major) },
  outputs = { s.array("b", "f32", s.col_major) },
  body    = "b = a;",
  sizes   = { { row = 4096, col = 4096 }, { row = 8191, col = 8191 } },
}
