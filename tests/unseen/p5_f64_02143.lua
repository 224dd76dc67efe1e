-- Five dimensions of doubles.
local s = require "sectile"
return s.kernel {
  name = "p5_f64_02143", dims = { "i", "j", "k", "l", "m" },
  inputs  = { s.array("a", "f64") },
  outputs = { s.array("b", "f64", s.row_major, { dims = { "i", "k", "j", "m", "l" } }) },
  body    = "b = a;",
  sizes   = { { i = 12, j = 40, k = 50, l = 29, m = 37 } },
}
