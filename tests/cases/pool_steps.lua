-- Strided taps in kernels with steps.
local s = require "sectile"
return s.kernel {
  name    = "pool_steps",
  dims    = { "y", "x" },
  inputs  = { s.array("a", "f32", s.row_major, {
    at = { "2 * y", "x" }, extents = { "2 * y", "x" }, taps = { below = { 1, 0 } },
  }) },
  outputs = { s.array("b", "f32") },
  steps   = {
    { reduce = { m = "max" }, body = "m = fmaxf(a, below);" },
    { body = "b = a - below + m;" },
  },
  sizes   = { { y = 301, x = 512 }, { y = 77, x = 131 } },
}
