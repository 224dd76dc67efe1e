-- Activations as e4m3, by a scale that is known, as they are and transposed.
--
-- Training in fp8 multiplies by both. Each operand moves in vectors of its own order: the
-- transposed result goes through shared memory, the others straight.
local s = require "sectile"

return s.kernel {
  name    = "quantise_both",
  dims    = { "row", "col" },
  scalars = { { "scale", "f32" } },
  inputs  = { s.array("x", "bf16") },
  outputs = { s.array("q", "e4m3"), s.array("qt", "e4m3", s.col_major) },
  body    = "q = fminf(fmaxf(scale * x, -448.0f), 448.0f); qt = q;",
  sizes   = { { row = 8192, col = 4096 }, { row = 8193, col = 4095 } },
}
