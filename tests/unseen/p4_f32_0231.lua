-- Images from planes to pixels.
local s = require "sectile"
return s.kernel {
  name = "p4_f32_0231", dims = { "i", "j", "k", "l" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "i", "k", "l", "j" } }) },
  body    = "b = a;",
  sizes   = { { i = 64, j = 27, k = 180, l = 180 } },
}
