-- The sum of each row of a matrix, and the kernel in reduction.cu that is to do it.
local s = require "sectile"

return s.kernel {
  name    = "reduction",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("total", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body    = "total = a;",
  also    = {
    cuda   = "reduction.cu",
    kernel = "sum_rows",
    args   = { "a", "total", "n_col" },
    block  = "256",
    grid   = "n_row",
  },
  sizes   = { { row = 200, col = 5000 } },
}
