-- Add to every field of 12-byte records the one behind it.
--
-- Three words a record: threads that own records never collide in the banks of shared memory.
-- Fields depend on each other, so that a record cannot be treated as so many scalars.
local s = require "sectile"

local vec3 = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  name = "vec3",
}

return s.kernel {
  name    = "record12_aos_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", vec3, s.aos) },
  outputs = { s.array("q", vec3, s.aos) },
  body    = "q.x = p.x + p.y; q.y = p.y + p.z; q.z = p.z + p.x;",
  sizes   = { { i = 44738560 } }, -- 2^29 bytes in each array, or a little less
}
