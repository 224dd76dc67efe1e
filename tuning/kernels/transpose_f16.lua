-- Transpose a matrix of half floats: pairs of them make the words that memory is moved in.
local s = require "sectile"

return s.kernel {
  name    = "transpose_f16",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f16", s.row_major) },
  outputs = { s.array("b", "f16", s.col_major) },
  body    = "b = a;",
  sizes   = { { row = 16384, col = 16384 }, { row = 16383, col = 16383 } },
}
