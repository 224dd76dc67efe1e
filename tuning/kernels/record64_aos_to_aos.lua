-- Add to every field of 64-byte records the one behind it.
--
-- Sixteen words a record: every second lane falls into the same banks, the worst stride but one.
-- Fields depend on each other, so that a record cannot be treated as so many scalars.
local s = require "sectile"

local matrix = s.record {
  { "m00", "f32" }, { "m01", "f32" }, { "m02", "f32" }, { "m03", "f32" },
  { "m10", "f32" }, { "m11", "f32" }, { "m12", "f32" }, { "m13", "f32" },
  { "m20", "f32" }, { "m21", "f32" }, { "m22", "f32" }, { "m23", "f32" },
  { "m30", "f32" }, { "m31", "f32" }, { "m32", "f32" }, { "m33", "f32" },
  name = "matrix",
}

return s.kernel {
  name    = "record64_aos_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", matrix, s.aos) },
  outputs = { s.array("q", matrix, s.aos) },
  body    = [[
    q.m00 = p.m00 + p.m01; q.m01 = p.m01 + p.m02; q.m02 = p.m02 + p.m03;
    q.m03 = p.m03 + p.m10; q.m10 = p.m10 + p.m11; q.m11 = p.m11 + p.m12;
    q.m12 = p.m12 + p.m13; q.m13 = p.m13 + p.m20; q.m20 = p.m20 + p.m21;
    q.m21 = p.m21 + p.m22; q.m22 = p.m22 + p.m23; q.m23 = p.m23 + p.m30;
    q.m30 = p.m30 + p.m31; q.m31 = p.m31 + p.m32; q.m32 = p.m32 + p.m33;
    q.m33 = p.m33 + p.m00;
  ]],
  sizes   = { { i = 8388608 } }, -- 2^29 bytes in each array, or a little less
}
