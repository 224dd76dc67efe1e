-- Bytes whose fastest two modes change places, and the others are reversed.
local s = require "sectile"
return s.kernel {
  name = "p6_u8_321054", dims = { "i", "j", "k", "l", "m", "n" },
  inputs  = { s.array("a", "u8", s.row_major, { dims = { "l", "k", "j", "i", "n", "m" } }) },
  outputs = { s.array("b", "u8") },
  body    = "b = a;",
  sizes   = { { i = 27, j = 65, k = 17, l = 3, m = 27, n = 63 } },
}
