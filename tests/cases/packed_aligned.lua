-- Fields without gaps in records that begin at 8 bytes.
local s = require "sectile"
local r = s.record { { "t", "u8" }, { "x", "f32" }, { "y", "f64" }, packed = true, align = 8 }
return s.kernel {
  name = "packed_aligned",
  dims = { "i" },
  inputs = { s.array("a", r, s.choose { s.aos, s.soa, s.aosoa { lanes = { 3, 32 } } }) },
  outputs = { s.array("b", r, s.choose { s.soa, s.aos, s.aosoa { lanes = { 4, 32 } } }) },
  body = "b = a;",
  sizes = { { i = 1000003 } },
}
