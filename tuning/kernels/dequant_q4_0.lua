-- Blocks of 4-bit weights as llama.cpp stores them (Q4_0), as halves or floats: a scale, and 32
-- weights, of which number n shares a byte with number n + 16.
--
-- kernel dequant_q4_0: to=f16
-- kernel dequant_q4_0_f32: to=f32
local s = require "sectile"
local p = s.params { to = "f16" }

local block = s.record { { "d", "f16" }, { "qs", "u4", 32 }, name = "block_q4_0" }
local weights = s.record { { "x", p.to, 32 }, name = "weights" }

return s.kernel {
  name    = p.to == "f16" and "dequant_q4_0" or "dequant_q4_0_" .. p.to,
  dims    = { "block" },
  inputs  = { s.array("b", block) },
  outputs = { s.array("w", weights) },
  body    = [[
    for (int n = 0; n < 16; n++) {
      w.x[n] = (float)b.d * (b.qs[2 * n] - 8);
      w.x[n + 16] = (float)b.d * (b.qs[2 * n + 1] - 8);
    }
  ]],
  sizes   = { { block = 1 << 21 }, { block = 1409024 } },
}
