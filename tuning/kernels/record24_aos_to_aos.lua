-- Add to every field of 24-byte records the one behind it.
--
-- Six words a record: an even stride, so that two lanes meet in each bank of shared memory. Fields
-- depend on each other, so that a record cannot be treated as so many scalars.
local s = require "sectile"

local pose = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, { "u", "f32" }, { "v", "f32" }, { "w", "f32" },
  name = "pose",
}

return s.kernel {
  name    = "record24_aos_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", pose, s.aos) },
  outputs = { s.array("q", pose, s.aos) },
  body    = [[
    q.x = p.x + p.y; q.y = p.y + p.z; q.z = p.z + p.u; q.u = p.u + p.v; q.v = p.v + p.w;
    q.w = p.w + p.x;
  ]],
  sizes   = { { i = 22369280 } }, -- 2^29 bytes in each array, or a little less
}
