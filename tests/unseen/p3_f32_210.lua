-- A reversal of three dimensions.
local s = require "sectile"
return s.kernel {
  name = "p3_f32_210", dims = { "i", "j", "k" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "k", "j", "i" } }) },
  body    = "b = a;",
  sizes   = { { i = 300, j = 450, k = 390 } },
}
