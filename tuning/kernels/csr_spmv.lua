-- A sparse matrix in CSR times a vector: y[row] = the sum of v[k] * x[col[k]] over the row's k.
--
-- Rows have 0 to many elements, 16 in the mean. `ptr` holds where each row begins, and behind them
-- where the last one ends.
local s = require "sectile"

return s.kernel {
  name    = "csr_spmv",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i32", s.row_major, { dims = { "row" } }),
    s.array("col", "i32", s.row_major, { dims = { "k" }, fill = "random" }),
    s.array("v", "f32", s.row_major, { dims = { "k" } }),
    s.array("x", "f32", s.row_major, { dims = { "c" }, at = { "col" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body    = "y = v * x;",
  sizes   = {
    { row = 1 << 20, k = 1 << 24, c = 1 << 20, ptr = "uniform" },
    { row = 1 << 20, k = 1 << 24, c = 1 << 20, ptr = "power" },
  },
}
