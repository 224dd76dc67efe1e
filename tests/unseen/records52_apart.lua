-- Records of 52 bytes, aos to soa.
local s = require "sectile"
local rec = s.record {
  { "f0", "f32" }, { "f1", "f32" }, { "f2", "f32" }, { "f3", "f32" },
  { "f4", "f32" }, { "f5", "f32" }, { "f6", "f32" }, { "f7", "f32" },
  { "f8", "f32" }, { "f9", "f32" }, { "f10", "f32" }, { "f11", "f32" },
  { "f12", "f32" },
  name = "row_of_13",
}
return s.kernel {
  name = "records52_apart", dims = { "i" },
  inputs  = { s.array("p", rec, s.aos) },
  outputs = { s.array("q", rec, s.soa) },
  body    = "q = p;",
  sizes   = { { i = 5000003 } },
}
