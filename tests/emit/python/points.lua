local s = require "sectile"

local point = s.record { { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, name = "point" }

return s.kernel {
  name = "points",
  dims = { "i" },
  inputs = { s.array("p", point, s.aos), s.array("shift", "f16", s.pitched { align = 32 }) },
  outputs = { s.array("q", point, s.aos, { inout = true }) },
  body = "q.x += p.x + (float)shift; q.y += p.y; q.z += p.z;",
  sizes = { { i = 4096 } },
}
