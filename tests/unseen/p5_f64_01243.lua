-- Many small transposes of 7 x 31.
local s = require "sectile"
return s.kernel {
  name = "p5_f64_01243", dims = { "i", "j", "k", "l", "m" },
  inputs  = { s.array("a", "f64", s.row_major, { dims = { "i", "j", "k", "m", "l" } }) },
  outputs = { s.array("b", "f64") },
  body    = "b = a;",
  sizes   = { { i = 34, j = 20, k = 96, l = 7, m = 31 } },
}
