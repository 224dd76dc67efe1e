-- Put particles together: one array a field to 28-byte records (seven f32).
--
-- Written directly, every store touches 28 sectors where 4 would do: a tile of records has to be
-- put together in shared memory.
local s = require "sectile"

local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  { "vx", "f32" }, { "vy", "f32" }, { "vz", "f32" },
  { "m", "f32" },
  name = "particle",
}

return s.kernel {
  name    = "particle_soa_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", particle, s.soa) },
  outputs = { s.array("q", particle, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 19173952 } }, -- 2^29 bytes in each array, or a little less
}
