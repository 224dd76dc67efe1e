-- Bytes in four dimensions, lines and columns short and of odd length.
local s = require "sectile"
return s.kernel {
  name = "p4_u8_2031", dims = { "i", "j", "k", "l" },
  inputs  = { s.array("a", "u8", s.row_major, { dims = { "k", "i", "l", "j" } }) },
  outputs = { s.array("b", "u8") },
  body    = "b = a;",
  sizes   = { { i = 90, j = 99, k = 130, l = 177 } },
}
