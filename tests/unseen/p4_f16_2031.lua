-- Halves in four dimensions.
local s = require "sectile"
return s.kernel {
  name = "p4_f16_2031", dims = { "i", "j", "k", "l" },
  inputs  = { s.array("a", "f16") },
  outputs = { s.array("b", "f16", s.row_major, { dims = { "k", "i", "l", "j" } }) },
  body    = "b = a;",
  sizes   = { { i = 64, j = 96, k = 120, l = 130 } },
}
