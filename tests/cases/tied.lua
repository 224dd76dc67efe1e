-- One choice for an input and an output.
local s = require "sectile"
local cell = s.record { { "q0", "f32" }, { "q1", "f32" }, { "q2", "f32" } }
local layout = s.choose { s.aos, s.soa, s.aosoa { lanes = 32 } }
return s.kernel {
  name = "tied",
  dims = { "i" },
  inputs = { s.array("a", cell, layout) },
  outputs = { s.array("b", cell, layout), s.array("o", "f32") },
  body = "b.q0 = a.q1; b.q1 = a.q2; b.q2 = a.q0; o = a.q0;",
  sizes = { { i = 100000 }, { i = 9999 } },
}
