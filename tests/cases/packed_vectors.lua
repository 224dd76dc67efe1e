-- Vectors without gaps, whose types want 8 and 16 bytes.
local s = require "sectile"
local r = s.record { { "x", "f32x4" }, { "t", "u8" }, { "y", "i32x2" }, packed = true }
return s.kernel {
  name = "packed_vectors",
  dims = { "i" },
  inputs = { s.array("a", r, s.choose { s.aos, s.soa, s.aosoa { lanes = { 3, 32 } } }) },
  outputs = { s.array("b", r, s.choose { s.soa, s.aos, s.aosoa { lanes = { 4, 32 } } }) },
  body = "b = a;",
  sizes = { { i = 1000003 } },
}
