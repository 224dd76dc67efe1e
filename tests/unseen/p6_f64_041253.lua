-- Six dimensions, of which the slowest stays.
local s = require "sectile"
return s.kernel {
  name = "p6_f64_041253", dims = { "i", "j", "k", "l", "m", "n" },
  inputs  = { s.array("a", "f64") },
  outputs = { s.array("b", "f64", s.row_major, { dims = { "i", "m", "j", "k", "n", "l" } }) },
  body    = "b = a;",
  sizes   = { { i = 9, j = 16, k = 24, l = 14, m = 25, n = 22 } },
}
