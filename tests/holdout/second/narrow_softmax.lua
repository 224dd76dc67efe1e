-- Softmax of many short rows.
local s = require "sectile"
return s.kernel {
  name    = "narrow_softmax",
  dims    = { "row", "col" },
  inputs  = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps   = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { row = { r = "f32" }, body = "r = 1.0f / t;" },
    { body = "y = expf(x - m) * r;" },
  },
  sizes   = { { row = 400000, col = 72 } },
  tolerance = 1e-4,
}
