-- A transpose of bytes.
local s = require "sectile"
return s.kernel {
  name = "p2_u8_odd", dims = { "i", "j" },
  inputs  = { s.array("a", "u8") },
  outputs = { s.array("b", "u8", s.row_major, { dims = { "j", "i" } }) },
  body    = "b = a;",
  sizes   = { { i = 12000, j = 9001 } },
}
