-- Records of two words of 16 bytes taken apart: swizzled tiles.
local s = require "sectile"
local r = s.record {
  { "x", "f32x4" }, { "y", "f64" }, { "z", "i32" }, { "u", "f32" }, name = "rec",
}
return s.kernel {
  name = "map_swizzled",
  dims = { "i" },
  inputs = { s.array("p", r) },
  outputs = { s.array("q", r, s.soa) },
  body = "q = p; q.u = 2.0f * p.u;",
  sizes = { { i = 40001 }, { i = 39936 } },
}
