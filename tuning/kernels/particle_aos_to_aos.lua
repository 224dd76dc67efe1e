-- Copy particles: 28-byte records (seven f32) in and out.
--
-- The strongest library here stages its loads and not its stores, and reaches half of what the
-- memory can do.
local s = require "sectile"

local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  { "vx", "f32" }, { "vy", "f32" }, { "vz", "f32" },
  { "m", "f32" },
  name = "particle",
}

return s.kernel {
  name    = "particle_aos_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", particle, s.aos) },
  outputs = { s.array("q", particle, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 19173952 } }, -- 2^29 bytes in each array, or a little less
}
