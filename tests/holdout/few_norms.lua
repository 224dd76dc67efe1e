-- Rows of 768 brought to unit length, few of them.
local s = require "sectile"
return s.kernel {
  name    = "few_norms",
  dims    = { "row", "col" },
  inputs  = { s.array("x", "bf16") },
  outputs = { s.array("y", "bf16") },
  steps   = {
    { reduce = { q = "sum" }, body = "float v = x; q = v * v;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q + 1e-6f);" },
    { body = "y = x * r;" },
  },
  sizes   = { { row = 48, col = 768 } },
  tolerance = 2e-2,
}
