-- The modulus of complex numbers.
local s = require "sectile"
return s.kernel {
  name    = "modulus",
  dims    = { "i" },
  inputs  = { s.array("z", "f32x2") },
  outputs = { s.array("m", "f32") },
  body    = "m = sqrtf(z.x * z.x + z.y * z.y);",
  sizes   = { { i = 45000000 } },
  tolerance = 1e-5,
}
