-- Put records of 48 bytes together from one array a field.
--
-- Twelve words a record: records of four lanes share banks, so that tiles want padding or a
-- swizzle.
local s = require "sectile"

local frame = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, { "m", "f32" }, { "vx", "f32" },
  { "vy", "f32" }, { "vz", "f32" }, { "q", "f32" }, { "fx", "f32" }, { "fy", "f32" },
  { "fz", "f32" }, { "e", "f32" },
  name = "frame",
}

return s.kernel {
  name    = "record48_soa_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", frame, s.soa) },
  outputs = { s.array("q", frame, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 11184128 } }, -- 2^29 bytes in each array, or a little less
}
