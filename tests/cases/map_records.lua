-- Records of 12 bytes to records: staged both ways; names that the kernel has for itself.
local s = require "sectile"
local r = s.record {
  { "x", "f32" }, { "y", "i32" }, { "z", "f32" }, name = "vec",
}
return s.kernel {
  name = "map_records",
  dims = { "i" },
  scalars = { { "compute", "i32" } },
  inputs = { s.array("p", r) },
  outputs = { s.array("q", r) },
  body = "q.x = p.z; q.y = p.y + compute; q.z = p.x;",
  sizes = { { i = 40001 } },
}
