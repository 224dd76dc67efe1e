-- Take 28-byte records out of blocks of 32, in which every field is contiguous.
--
-- The loads are coalesced as they are; the stores have to be put together.
local s = require "sectile"

local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  { "vx", "f32" }, { "vy", "f32" }, { "vz", "f32" },
  { "m", "f32" },
  name = "particle",
}

return s.kernel {
  name    = "record28_aosoa_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", particle, s.aosoa { lanes = 32 }) },
  outputs = { s.array("q", particle, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 19173952 } }, -- 2^29 bytes in each array, or a little less
}
