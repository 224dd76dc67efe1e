-- Blocks of 16 x 32 elements to plain rows.
local s = require "sectile"
return s.kernel {
  name    = "untile",
  dims    = { "by", "y", "bx", "x" },
  inputs  = { s.array("a", "u16", s.row_major, { dims = { "by", "bx", "y", "x" } }) },
  outputs = { s.array("b", "u16") },
  body    = "b = a;",
  sizes   = { { by = 400, y = 16, bx = 250, x = 32 } },
}
