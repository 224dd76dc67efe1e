-- Cube roots by Newton steps.
local s = require "sectile"
return s.kernel {
  name    = "newton_roots",
  dims    = { "i" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("r", "f32") },
  body    = [[
    float v = 1.0f + fabsf(a), x = v;
    for (int k = 0; k < 24; k++) x = x - (x * x * x - v) / (3.0f * x * x);
    r = x;
  ]],
  sizes   = { { i = 9000000 } },
  tolerance = 1e-3,
}
