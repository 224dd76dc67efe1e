-- Records of 12 bytes to records: staged both ways.
local s = require "sectile"
local r = s.record {
  { "x", "f32" }, { "y", "i32" }, { "z", "f32" }, name = "rec" }
return s.kernel {
  name = "map_records",
  dims = { "i" },
  inputs = {
    s.array("p", r),
  },
  outputs = { s.array("q", r) },
  body = "q.x = p.z; q.y = p.y + 1; q.z = p.x;",
  sizes = { { i = 40001 } }
}
