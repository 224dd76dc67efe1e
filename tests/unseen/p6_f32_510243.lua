-- Six dimensions.
local s = require "sectile"
return s.kernel {
  name = "p6_f32_510243", dims = { "i", "j", "k", "l", "m", "n" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "n", "j", "i", "k", "m", "l" } }) },
  body    = "b = a;",
  sizes   = { { i = 18, j = 20, k = 15, l = 22, m = 13, n = 38 } },
}
