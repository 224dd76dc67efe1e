-- Add to every field of 28-byte records the one behind it.
--
-- Seven words a record, which no vector access divides. Fields depend on each other, so that a
-- record cannot be treated as so many scalars.
local s = require "sectile"

local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  { "vx", "f32" }, { "vy", "f32" }, { "vz", "f32" },
  { "m", "f32" },
  name = "particle",
}

return s.kernel {
  name    = "record28_aos_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", particle, s.aos) },
  outputs = { s.array("q", particle, s.aos) },
  body    = [[
    q.x = p.x + p.y; q.y = p.y + p.z; q.z = p.z + p.vx; q.vx = p.vx + p.vy;
    q.vy = p.vy + p.vz; q.vz = p.vz + p.m; q.m = p.m + p.x;
  ]],
  sizes   = { { i = 19173952 } }, -- 2^29 bytes in each array, or a little less
}
