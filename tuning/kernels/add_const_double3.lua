-- Add a constant to every component of an array of double3 (24-byte records, AoS to AoS).
--
-- The textbook case of coalescing: read directly, each warp asks for 24 sectors where 8 would do,
-- because neighbouring threads are 24 bytes apart. L1 repairs the loads; nothing repairs the
-- stores.
local s = require "sectile"

local vec3 = s.record { { "x", "f64" }, { "y", "f64" }, { "z", "f64" }, name = "vec3" }

return s.kernel {
  name    = "add_const_double3",
  dims    = { "i" },
  scalars = { { "k", "f64" } },
  inputs  = { s.array("a", vec3, s.aos) },
  outputs = { s.array("b", vec3, s.aos) },
  body    = "b.x = a.x + k; b.y = a.y + k; b.z = a.z + k;",
  sizes   = { { i = 1 << 20 }, { i = 1 << 26 } },
}
