-- Put records of 64 bytes together from one array a field.
--
-- Sixteen words a record: every second lane falls into the same banks, the worst stride but one.
local s = require "sectile"

local matrix = s.record {
  { "m00", "f32" }, { "m01", "f32" }, { "m02", "f32" }, { "m03", "f32" },
  { "m10", "f32" }, { "m11", "f32" }, { "m12", "f32" }, { "m13", "f32" },
  { "m20", "f32" }, { "m21", "f32" }, { "m22", "f32" }, { "m23", "f32" },
  { "m30", "f32" }, { "m31", "f32" }, { "m32", "f32" }, { "m33", "f32" },
  name = "matrix",
}

return s.kernel {
  name    = "record64_soa_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", matrix, s.soa) },
  outputs = { s.array("q", matrix, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 8388608 } }, -- 2^29 bytes in each array, or a little less
}
