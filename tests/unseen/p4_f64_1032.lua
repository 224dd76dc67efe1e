-- Two transposes in one.
local s = require "sectile"
return s.kernel {
  name = "p4_f64_1032", dims = { "i", "j", "k", "l" },
  inputs  = { s.array("a", "f64") },
  outputs = { s.array("b", "f64", s.row_major, { dims = { "j", "i", "l", "k" } }) },
  body    = "b = a;",
  sizes   = { { i = 40, j = 50, k = 110, l = 120 } },
}
