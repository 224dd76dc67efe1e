-- Five short and long dimensions.
local s = require "sectile"
return s.kernel {
  name = "p5_f32_30142", dims = { "i", "j", "k", "l", "m" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "l", "i", "j", "m", "k" } }) },
  body    = "b = a;",
  sizes   = { { i = 7, j = 130, k = 9, l = 64, m = 101 } },
}
