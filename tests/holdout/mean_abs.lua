-- Mean absolute values of rows of 333.
local s = require "sectile"
return s.kernel {
  name    = "mean_abs",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body    = "y = fabsf(a) / n_col;",
  sizes   = { { row = 300000, col = 333 } },
}
