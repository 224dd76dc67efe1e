-- Rows with mean 0 and variance 1: what `x - mean` loses in digits is no mistake.
local s = require "sectile"

return s.kernel {
  name    = "standard_rows",
  dims    = { "row", "col" },
  inputs  = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps   = {
    { reduce = { t = "sum" }, body = "t = x;" },
    { row = { mean = "f32" }, body = "mean = t / n_col;" },
    { reduce = { q = "sum" }, body = "float d = x - mean; q = d * d;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q / n_col + 1e-5f);" },
    { body = "y = (x - mean) * r;" },
  },
  sizes   = { { row = 2048, col = 1000 }, { row = 30, col = 31 } },
}
