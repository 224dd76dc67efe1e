-- Put records of 24 bytes together from one array a field.
--
-- Six words a record: an even stride, so that two lanes meet in each bank of shared memory.
local s = require "sectile"

local pose = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, { "u", "f32" }, { "v", "f32" }, { "w", "f32" },
  name = "pose",
}

return s.kernel {
  name    = "record24_soa_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", pose, s.soa) },
  outputs = { s.array("q", pose, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 22369280 } }, -- 2^29 bytes in each array, or a little less
}
