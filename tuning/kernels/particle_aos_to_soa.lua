-- Take particles apart: 28-byte records (seven f32) to one array a field.
--
-- The stores are coalesced as they are; L1 repairs the loads as long as all seven fields are read
-- back to back.
local s = require "sectile"

local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  { "vx", "f32" }, { "vy", "f32" }, { "vz", "f32" },
  { "m", "f32" },
  name = "particle",
}

return s.kernel {
  name    = "particle_aos_to_soa",
  dims    = { "i" },
  inputs  = { s.array("p", particle, s.aos) },
  outputs = { s.array("q", particle, s.soa) },
  body    = "q = p;",
  sizes   = { { i = 19173952 } }, -- 2^29 bytes in each array, or a little less
}
