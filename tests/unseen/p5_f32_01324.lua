-- Records of 12 bytes, whose rows and columns change places.
local s = require "sectile"
return s.kernel {
  name = "p5_f32_01324", dims = { "i", "j", "k", "l", "m" },
  inputs  = { s.array("a", "f32", s.row_major, { dims = { "i", "j", "l", "k", "m" } }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 24, j = 50, k = 128, l = 48, m = 3 } },
}
