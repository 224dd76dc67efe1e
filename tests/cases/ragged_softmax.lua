-- Softmax of rows of different lengths, and the number of the elements of each.
local s = require "sectile"

return s.kernel {
  name    = "ragged_softmax",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "u32", s.row_major, { dims = { "row" } }),
    s.array("x", "f32", s.row_major, { dims = { "k" } }),
  },
  outputs = {
    s.array("y", "f32", s.row_major, { dims = { "k" } }),
    s.array("count", "i32", s.row_major, { dims = { "row" } }),
  },
  steps   = {
    { reduce = { m = "max", n = { "sum", "i32" } }, body = "m = x; n = 1;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { body = "count = n;" },
    { body = "y = expf(x - m) / t;" },
  },
  sizes   = { { row = 500, k = 9000, ptr = "power" }, { row = 70, k = 0 } },
}
