-- Heads and tokens change places.
local s = require "sectile"
return s.kernel {
  name = "p4_f32_0213", dims = { "i", "j", "k", "l" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "i", "k", "j", "l" } }) },
  body    = "b = a;",
  sizes   = { { i = 16, j = 2048, k = 24, l = 72 } },
}
