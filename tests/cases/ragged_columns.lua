-- Ragged rows of matrices: the fastest dimension is kept, so threads side by side have columns.
local s = require "sectile"
return s.kernel {
  name    = "ragged_columns",
  dims    = { "row", "k", "c" },
  ragged  = { k = "ptr" },
  over    = "k",
  inputs  = {
    s.array("ptr", "i32", s.row_major, { dims = { "row" } }),
    s.array("x", "i32", s.row_major, { dims = { "k", "c" } }),
  },
  outputs = { s.array("y", "i32", s.row_major, { dims = { "k", "c" } }) },
  steps   = {
    { reduce = { m = { "max", "i32" }, n = { "sum", "i32" } }, body = "m = x; n = 1;" },
    { body = "y = x < m ? m : n;" },
  },
  sizes   = { { row = 100, k = 3000, c = 96, ptr = "power" } },
}
