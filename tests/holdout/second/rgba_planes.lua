-- Pixels of four bytes to planes of floats, brightened.
local s = require "sectile"
local pixel = s.record {
  { "r", "u8" }, { "g", "u8" }, { "b", "u8" }, { "a", "u8" }, name = "pixel_t",
}
local plane = s.record {
  { "r", "f32" }, { "g", "f32" }, { "b", "f32" }, name = "plane_t",
}
return s.kernel {
  name    = "rgba_planes",
  dims    = { "i" },
  scalars = { { "gain", "f32" } },
  inputs  = { s.array("p", pixel, s.aos) },
  outputs = { s.array("q", plane, s.soa) },
  body    = "q.r = gain * p.r; q.g = gain * p.g; q.b = gain * p.b;",
  sizes   = { { i = 30000000 } },
}
