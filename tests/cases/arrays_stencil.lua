-- Taps of a field that is an array, each element of it an array of its own.
local s = require "sectile"
local cell = s.record { { "u", "u8" }, { "q", "f32", 2 } }

return s.kernel {
  name = "arrays_stencil",
  dims = { "i" },
  inputs = { s.array("a", cell, s.soa, { taps = { next = { 1 } }, border = "clamp" }) },
  outputs = { s.array("b", "f32") },
  body = "b = next.q[0] - a.q[1] + (float)(next.u - a.u);",
  sizes = { { i = 100000 } },
}
