-- Fields of 1 to 8 bytes without gaps.
local s = require "sectile"
local r = s.record { { "t", "u8" }, { "x", "f32" }, { "w", "f64" }, { "h", "f16" }, packed = true }
return s.kernel {
  name = "packed_mixed",
  dims = { "i" },
  inputs = { s.array("a", r, s.choose { s.aos, s.soa, s.aosoa { lanes = { 3, 32 } } }) },
  outputs = { s.array("b", r, s.choose { s.soa, s.aos, s.aosoa { lanes = { 4, 32 } } }) },
  body = "b = a;",
  sizes = { { i = 1000003 } },
}
