-- Two floats without gaps, which may begin at any byte where records lie whole.
local s = require "sectile"
local r = s.record { { "x", "f32" }, { "y", "f32" }, packed = true }
return s.kernel {
  name = "packed_floats",
  dims = { "i" },
  inputs = { s.array("a", r, s.choose { s.aos, s.soa, s.aosoa { lanes = { 3, 32 } } }) },
  outputs = { s.array("b", r, s.choose { s.soa, s.aos, s.aosoa { lanes = { 4, 32 } } }) },
  body = "b = a;",
  sizes = { { i = 1000003 } },
}
