-- Records of 20 bytes, soa to aos.
local s = require "sectile"
local rec = s.record {
  { "f0", "f32" }, { "f1", "f32" }, { "f2", "f32" }, { "f3", "f32" },
  { "f4", "f32" },
  name = "row_of_5",
}
return s.kernel {
  name = "records20_joined", dims = { "i" },
  inputs  = { s.array("p", rec, s.soa) },
  outputs = { s.array("q", rec, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 12000019 } },
}
