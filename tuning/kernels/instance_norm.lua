-- Instance norm: each plane of each image to mean 0 and variance 1.
--
-- Mean and variance take one pass: a variance keeps a number, a mean and the sum of squares around
-- it, and two of those become one.
local s = require "sectile"

return s.kernel {
  name    = "instance_norm",
  dims    = { "n", "c", "h", "w" },
  over    = { "h", "w" },
  scalars = { { "eps", "f32" } },
  inputs  = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps   = {
    { reduce = { mean = "mean", v = "variance" }, body = "mean = x; v = x;" },
    { row = { r = "f32" }, body = "r = rsqrtf(v + eps);" },
    { body = "y = (x - mean) * r;" },
  },
  sizes   = { { n = 64, c = 64, h = 128, w = 128 }, { n = 16, c = 64, h = 512, w = 512 } },
}
