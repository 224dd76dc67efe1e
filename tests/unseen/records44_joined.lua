-- Records of 44 bytes, soa to aos.
local s = require "sectile"
local rec = s.record {
  { "f0", "f32" }, { "f1", "f32" }, { "f2", "f32" }, { "f3", "f32" },
  { "f4", "f32" }, { "f5", "f32" }, { "f6", "f32" }, { "f7", "f32" },
  { "f8", "f32" }, { "f9", "f32" }, { "f10", "f32" },
  name = "row_of_11",
}
return s.kernel {
  name = "records44_joined", dims = { "i" },
  inputs  = { s.array("p", rec, s.soa) },
  outputs = { s.array("q", rec, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 6000011 } },
}
