-- A reversal of four dimensions.
local s = require "sectile"
return s.kernel {
  name = "p4_f32_3210", dims = { "i", "j", "k", "l" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "l", "k", "j", "i" } }) },
  body    = "b = a;",
  sizes   = { { i = 75, j = 83, k = 91, l = 101 } },
}
