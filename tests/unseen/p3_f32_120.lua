-- A short dimension becomes the fastest.
local s = require "sectile"
return s.kernel {
  name = "p3_f32_120", dims = { "i", "j", "k" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "j", "k", "i" } }) },
  body    = "b = a;",
  sizes   = { { i = 16, j = 1200, k = 2500 } },
}
