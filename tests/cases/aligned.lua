-- Records that begin at 16 bytes, though no field wants it.
local s = require "sectile"
local r = s.record { { "x", "f32" }, { "y", "f32" }, { "z", "u8" }, align = 16 }
return s.kernel {
  name = "aligned",
  dims = { "i" },
  inputs = { s.array("a", r, s.choose { s.aos, s.soa, s.aosoa { lanes = { 3, 32 } } }) },
  outputs = { s.array("b", r, s.choose { s.soa, s.aos, s.aosoa { lanes = { 4, 32 } } }) },
  body = "b = a;",
  sizes = { { i = 1000003 } },
}
