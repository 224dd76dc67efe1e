-- Blocks of quantised weights, as llama.cpp's Q4_0 has them: a scale and 32 fields of 4 bits.
local s = require "sectile"
local block = s.record { { "d", "f16" }, { "qs", "u8", 16 }, name = "block_q4_0" }
return s.kernel {
  name = "arrays_blocks",
  dims = { "block" },
  inputs = { s.array("b", block) },
  outputs = { s.array("w", s.record { { "x", "f16", 32 } }) },
  body = [[
    for (int n = 0; n < 16; n++) {
      w.x[n] = (b.qs[n] % 16 - 8) * (float)b.d;
      w.x[n + 16] = (b.qs[n] / 16 - 8) * (float)b.d;
    }
  ]],
  sizes = { { block = 5000 }, { block = 1 << 14 } },
}
