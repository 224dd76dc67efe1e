-- The collision of a lattice Boltzmann model in two dimensions.
local s = require "sectile"
local cell = s.record { { "f", "f32", 9 }, name = "cell_t" }
return s.kernel {
  name    = "d2q9_collide",
  dims    = { "i" },
  scalars = { { "omega", "f32" } },
  inputs  = { s.array("a", cell, s.choose { s.soa, s.aosoa { lanes = 32 } }) },
  outputs = { s.array("b", cell, s.soa) },
  body    = [[
    float r = 0.0f;
    for (int k = 0; k < 9; k++) r += a.f[k];
    float u = (a.f[1] - a.f[3] + a.f[5] - a.f[6] - a.f[7] + a.f[8]) / r;
    float v = (a.f[2] - a.f[4] + a.f[5] + a.f[6] - a.f[7] - a.f[8]) / r;
    float e = 1.0f - 1.5f * (u * u + v * v);
    for (int k = 0; k < 9; k++) {
      float w = k == 0 ? 4.0f / 9.0f : k < 5 ? 1.0f / 9.0f : 1.0f / 36.0f;
      float c = k == 1 ? u : k == 2 ? v : k == 3 ? -u : k == 4 ? -v
        : k == 5 ? u + v : k == 6 ? v - u : k == 7 ? -u - v : k == 8 ? u - v : 0.0f;
      b.f[k] = a.f[k] + omega * (w * r * (e + 3.0f * c + 4.5f * c * c) - a.f[k]);
    }
  ]],
  sizes   = { { i = 5000000 } },
  tolerance = 1e-2,
}
