-- Take records of 20 bytes apart: one array a field.
--
-- Five words a record: no vector width, and an odd stride in the banks of shared memory.
local s = require "sectile"

local sample = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, { "u", "f32" }, { "v", "f32" },
  name = "sample",
}

return s.kernel {
  name    = "record20_aos_to_soa",
  dims    = { "i" },
  inputs  = { s.array("p", sample, s.aos) },
  outputs = { s.array("q", sample, s.soa) },
  body    = "q = p;",
  sizes   = { { i = 26843136 } }, -- 2^29 bytes in each array, or a little less
}
