-- Transposed planes.
local s = require "sectile"
return s.kernel {
  name = "p3_f64_021", dims = { "i", "j", "k" },
  inputs  = { s.array("a", "f64") },
  outputs = { s.array("b", "f64", s.row_major, { dims = { "i", "k", "j" } }) },
  body    = "b = a;",
  sizes   = { { i = 97, j = 512, k = 530 } },
}
