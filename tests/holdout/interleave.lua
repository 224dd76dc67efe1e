-- Real and imaginary parts to complex numbers.
local s = require "sectile"
return s.kernel {
  name    = "interleave",
  dims    = { "i" },
  inputs  = { s.array("re", "f32"), s.array("im", "f32") },
  outputs = { s.array("z", "f32x2") },
  body    = "z.x = re; z.y = im;",
  sizes   = { { i = 250000000 } },
}
