-- Rows stay rows of some length.
local s = require "sectile"
return s.kernel {
  name = "p3_f32_slab", dims = { "i", "j", "k" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "j", "i", "k" } }) },
  body    = "b = a;",
  sizes   = { { i = 384, j = 64, k = 2144 } },
}
