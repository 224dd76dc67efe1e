-- Sums of squares of rows whose lengths vary a little.
local s = require "sectile"
return s.kernel {
  name    = "ragged_squares",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i64", s.row_major, { dims = { "row" } }),
    s.array("v", "f32", s.row_major, { dims = { "k" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body    = "y = v * v;",
  sizes   = { { row = 200000, k = 15000000, ptr = "uniform" } },
}
