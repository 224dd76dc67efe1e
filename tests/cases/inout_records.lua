-- Records of 12 bytes in place: their tile is loaded whole, updated and stored whole.
-- try: map threads=256 items=1 vec=4 load=staged store=staged team=block evict=stores
-- try: map threads=256 items=1 vec=2 load=staged store=straight team=block evict=loads
local s = require "sectile"
local point = s.record { { "x", "f32" }, { "y", "f32" }, { "z", "f32" } }
return s.kernel {
  name    = "inout_records",
  dims    = { "i" },
  inputs  = { s.array("q", point) },
  outputs = { s.array("p", point, s.aos, { inout = true }) },
  body    = "p.x += q.x; if (p.x < 2.0f) p.y += q.y; p.z *= q.z;",
  sizes   = { { i = 1 << 20 } },
}
