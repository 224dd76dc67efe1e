-- Rows by their root mean square.
local s = require "sectile"
return s.kernel {
  name    = "wide_rms",
  dims    = { "row", "col" },
  inputs  = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps   = {
    { reduce = { q = "sum" }, body = "q = x * x;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q / n_col + 1e-6f);" },
    { body = "y = x * r;" },
  },
  sizes   = { { row = 2500, col = 12000 } },
  tolerance = 1e-4,
}
