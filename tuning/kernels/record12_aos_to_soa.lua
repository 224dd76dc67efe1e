-- Take records of 12 bytes apart: one array a field.
--
-- Three words a record: threads that own records never collide in the banks of shared memory.
local s = require "sectile"

local vec3 = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" },
  name = "vec3",
}

return s.kernel {
  name    = "record12_aos_to_soa",
  dims    = { "i" },
  inputs  = { s.array("p", vec3, s.aos) },
  outputs = { s.array("q", vec3, s.soa) },
  body    = "q = p;",
  sizes   = { { i = 44738560 } }, -- 2^29 bytes in each array, or a little less
}
