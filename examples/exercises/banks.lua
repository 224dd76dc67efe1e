-- Many matrices of 32 x 32, each transposed, and the kernel in banks.cu that is to do it.
local s = require "sectile"

return s.kernel {
  name    = "banks",
  dims    = { "matrix", "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "matrix", "col", "row" } }) },
  body    = "b = a;",
  also    = {
    cuda   = "banks.cu",
    kernel = "transpose32",
    args   = { "a", "b" },
    block  = { "32", "8" },
    grid   = "n_matrix",
    where  = { "n_row == 32", "n_col == 32", "n_matrix <= 2000000" },
  },
  sizes   = { { matrix = 1000, row = 32, col = 32 } },
}
