-- One series for even elements, another for odd ones, and the kernel in divergence.cu that is to
-- compute them.
local s = require "sectile"

return s.kernel {
  name    = "divergence",
  dims    = { "i" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32") },
  body    = [[
    float v = a;
    if (i % 2 == 0) {
      for (int k = 0; k < 24; k++) {
        v = v * 0.5f + 0.25f;
      }
    } else {
      for (int k = 0; k < 24; k++) {
        v = 0.5f - v * 0.5f;
      }
    }
    b = v;
  ]],
  also    = {
    cuda   = "divergence.cu",
    kernel = "series",
    args   = { "a", "b", "n_i" },
    block  = "256",
    grid   = "(n_i + 255) // 256",
    where  = { "n_i <= 1000000000" },
  },
  sizes   = { { i = 100000 } },
}
