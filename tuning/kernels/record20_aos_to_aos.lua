-- Add to every field of 20-byte records the one behind it.
--
-- Five words a record: no vector width, and an odd stride in the banks of shared memory. Fields
-- depend on each other, so that a record cannot be treated as so many scalars.
local s = require "sectile"

local sample = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, { "u", "f32" }, { "v", "f32" },
  name = "sample",
}

return s.kernel {
  name    = "record20_aos_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", sample, s.aos) },
  outputs = { s.array("q", sample, s.aos) },
  body    = [[
    q.x = p.x + p.y; q.y = p.y + p.z; q.z = p.z + p.u; q.u = p.u + p.v; q.v = p.v + p.x;
  ]],
  sizes   = { { i = 26843136 } }, -- 2^29 bytes in each array, or a little less
}
