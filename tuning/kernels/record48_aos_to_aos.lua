-- Add to every field of 48-byte records the one behind it.
--
-- Twelve words a record: records of four lanes share banks, so that tiles want padding or a
-- swizzle. Fields depend on each other, so that a record cannot be treated as so many scalars.
local s = require "sectile"

local frame = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, { "m", "f32" }, { "vx", "f32" },
  { "vy", "f32" }, { "vz", "f32" }, { "q", "f32" }, { "fx", "f32" }, { "fy", "f32" },
  { "fz", "f32" }, { "e", "f32" },
  name = "frame",
}

return s.kernel {
  name    = "record48_aos_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", frame, s.aos) },
  outputs = { s.array("q", frame, s.aos) },
  body    = [[
    q.x = p.x + p.y; q.y = p.y + p.z; q.z = p.z + p.m; q.m = p.m + p.vx;
    q.vx = p.vx + p.vy; q.vy = p.vy + p.vz; q.vz = p.vz + p.q; q.q = p.q + p.fx;
    q.fx = p.fx + p.fy; q.fy = p.fy + p.fz; q.fz = p.fz + p.e; q.e = p.e + p.x;
  ]],
  sizes   = { { i = 11184128 } }, -- 2^29 bytes in each array, or a little less
}
