-- Put 28-byte records into blocks of 32: inside a block every field is contiguous.
--
-- A block is what a warp moves with one access a field: the stores are coalesced as they are.
local s = require "sectile"

local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  { "vx", "f32" }, { "vy", "f32" }, { "vz", "f32" },
  { "m", "f32" },
  name = "particle",
}

return s.kernel {
  name    = "record28_aos_to_aosoa",
  dims    = { "i" },
  inputs  = { s.array("p", particle, s.aos) },
  outputs = { s.array("q", particle, s.aosoa { lanes = 32 }) },
  body    = "q = p;",
  sizes   = { { i = 19173952 } }, -- 2^29 bytes in each array, or a little less
}
