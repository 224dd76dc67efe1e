-- A thin transpose.
local s = require "sectile"
return s.kernel {
  name = "p2_f32_thin", dims = { "i", "j" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "j", "i" } }) },
  body    = "b = a;",
  sizes   = { { i = 24, j = 2000003 } },
}
