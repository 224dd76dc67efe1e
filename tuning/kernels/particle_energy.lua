-- Kinetic energy of particles, in whatever layout serves it best.
--
-- Four of seven fields are read. Records one after the other bring all 28 bytes to the chip, an
-- array a field or blocks of fields only the 16 that count: the layout decides, and no way of
-- access makes up for it. The emitted header says which one has won, and packs and unpacks it.
local s = require "sectile"

local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  { "vx", "f32" }, { "vy", "f32" }, { "vz", "f32" },
  { "m", "f32" },
  name = "particle",
}

return s.kernel {
  name    = "particle_energy",
  dims    = { "i" },
  inputs  = { s.array("p", particle, s.choose { s.aos, s.soa, s.aosoa { lanes = 32 } }) },
  outputs = { s.array("e", "f32") },
  body    = "e = 0.5f * p.m * fmaf(p.vx, p.vx, fmaf(p.vy, p.vy, p.vz * p.vz));",
  sizes   = { { i = 1 << 16 }, { i = 1 << 24 } },
}
