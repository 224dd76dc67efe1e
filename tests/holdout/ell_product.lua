-- A sparse matrix in ELLPACK, columns of entries, times a vector.
local s = require "sectile"
return s.kernel {
  name    = "ell_product",
  dims    = { "row", "k" },
  inputs  = {
    s.array("column", "i32", s.col_major, { fill = "random" }),
    s.array("value", "f64", s.col_major),
    s.array("x", "f64", s.row_major, { dims = { "n" }, at = { "column" } }),
  },
  outputs = { s.array("y", "f64", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body    = "y = value * x;",
  sizes   = { { row = 1000000, k = 12, n = 1000000 } },
}
