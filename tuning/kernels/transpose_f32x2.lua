-- Transpose a matrix of pairs of f32: elements of 8 bytes whose alignment is that of f64.
local s = require "sectile"

return s.kernel {
  name    = "transpose_f32x2",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32x2", s.row_major) },
  outputs = { s.array("b", "f32x2", s.col_major) },
  body    = "b = a;",
  sizes   = { { row = 4096, col = 4096 }, { row = 8191, col = 8191 } },
}
