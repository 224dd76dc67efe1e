local s = require "sectile"

return s.kernel {
  name = "masked",
  dims = { "i" },
  inputs = {
    s.array("m", s.record { { "on", "u1", 24 }, name = "mask" }),
    s.array("b", s.record { { "d", "f16" }, { "q", "u4", 4 }, name = "block" }),
  },
  outputs = { s.array("o", "f32") },
  body = "o = m.on[20] ? b.q[3] * (float)b.d : 0.0f;",
  sizes = { { i = 4096 } },
}
