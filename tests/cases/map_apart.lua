-- Records of 12 bytes taken apart.
local s = require "sectile"
local r = s.record {
  { "x", "f32" }, { "y", "i32" }, { "z", "f32" }, name = "rec" }
return s.kernel {
  name = "map_apart",
  dims = { "i" },
  inputs = {
    s.array("p", r),
  },
  outputs = { s.array("q", r, s.soa) },
  body = "q.x = p.z; q.y = p.y + 1; q.z = p.x;",
  sizes = { { i = 40001 }, { i = 40000 } }
}
