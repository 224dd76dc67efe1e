-- The transpose of a matrix, and the kernel in transpose.cu that is to do it.
local s = require "sectile"

return s.kernel {
  name    = "transpose",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "col", "row" } }) },
  body    = "b = a;",
  also    = {
    cuda   = "transpose.cu",
    kernel = "transpose",
    args   = { "a", "b", "n_col", "n_row" },
    block  = { "32", "8" },
    grid   = { "(n_col + 31) // 32", "(n_row + 31) // 32" },
    where  = { "n_row * n_col <= 2147483647" },
  },
  sizes   = { { row = 2048, col = 1024 } },
}
