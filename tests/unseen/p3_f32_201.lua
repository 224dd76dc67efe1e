-- The last dimension becomes the first.
local s = require "sectile"
return s.kernel {
  name = "p3_f32_201", dims = { "i", "j", "k" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "k", "i", "j" } }) },
  body    = "b = a;",
  sizes   = { { i = 301, j = 257, k = 701 } },
}
