-- Two hundred steps of the logistic map, each from the one before.
local s = require "sectile"
return s.kernel {
  name    = "logistic",
  dims    = { "i" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32") },
  body    = [[
    float x = 0.25f + 0.25f * fabsf(a) / (1.0f + fabsf(a));
    for (int k = 0; k < 200; k++) x = 3.2f * x * (1.0f - x);
    b = x;
  ]],
  sizes   = { { i = 12000 }, { i = 40000000 } },
  tolerance = 1e-2,
}
