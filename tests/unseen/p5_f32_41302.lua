-- Five dimensions.
local s = require "sectile"
return s.kernel {
  name = "p5_f32_41302", dims = { "i", "j", "k", "l", "m" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "m", "j", "l", "i", "k" } }) },
  body    = "b = a;",
  sizes   = { { i = 24, j = 33, k = 41, l = 28, m = 67 } },
}
