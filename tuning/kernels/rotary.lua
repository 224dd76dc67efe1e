-- Rotary position embedding of bf16 activations, with angles computed where they are used.
--
-- A pair of numbers is turned by an angle that grows with the position, less for later pairs: a
-- power, a sine and a cosine for 8 bytes that move. With powf, sinf and cosf the kernel waits for
-- arithmetic; the tolerance lets the tuner try __powf, __sinf and __cosf as well (`math=fast`).
local s = require "sectile"
local p = s.params { pairs = 64, base = 10000 } -- pairs a head

return s.kernel {
  name    = "rotary",
  dims    = { "pos", "head", "pair" },
  inputs  = { s.array("x", "bf16x2") },
  outputs = { s.array("y", "bf16x2") },
  body    = ([[
    const float angle = pos * powf(%d.0f, -pair / %d.0f);
    const float c = cosf(angle), d = sinf(angle), re = x.x, im = x.y;
    y.x = re * c - im * d;
    y.y = re * d + im * c;
  ]]):format(p.base, p.pairs),
  tolerance = 1e-2,
  sizes   = { { pos = 4096, head = 64, pair = p.pairs } },
}
