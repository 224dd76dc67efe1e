-- Gather seven arrays of f32 into blocks of 32 records: inside a block every field is contiguous.
--
-- Both sides move runs of 32 elements: coalesced as they are, one field after the other.
local s = require "sectile"

local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  { "vx", "f32" }, { "vy", "f32" }, { "vz", "f32" },
  { "m", "f32" },
  name = "particle",
}

return s.kernel {
  name    = "record28_soa_to_aosoa",
  dims    = { "i" },
  inputs  = { s.array("p", particle, s.soa) },
  outputs = { s.array("q", particle, s.aosoa { lanes = 32 }) },
  body    = "q = p;",
  sizes   = { { i = 19173952 } }, -- 2^29 bytes in each array, or a little less
}
