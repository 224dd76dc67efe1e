-- Strided taps of records, and of an array that moves along one mode only.
local s = require "sectile"
local vec3 = s.record { { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, name = "vec3" }
return s.kernel {
  name    = "pool_records",
  dims    = { "i", "j" },
  inputs  = {
    s.array("p", vec3, s.aos, { dims = { "i", "m" }, at = { "i", "2 * j" },
      extents = { "i", "2 * j" }, taps = { next = { 0, 1 } } }),
    s.array("w", "f64", s.row_major, { dims = { "m" }, at = { "2 * j" }, extents = { "2 * j" },
      taps = { w1 = { 1 } } }),
  },
  outputs = { s.array("q", vec3, s.choose { s.aos, s.soa }) },
  body    = "q.x = fma(w, (double)p.x, w1 * next.x); q.y = p.y + next.y; q.z = next.z;",
  sizes   = { { i = 515, j = 64 } },
}
