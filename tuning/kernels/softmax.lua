-- Softmax of rows: the exponentials of a row's values, divided by their sum.
local s = require "sectile"

return s.kernel {
  name    = "softmax",
  dims    = { "row", "col" },
  inputs  = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps   = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { body = "y = expf(x - m) / t;" },
  },
  sizes   = { { row = 16384, col = 4096 }, { row = 65536, col = 1000 } },
}
