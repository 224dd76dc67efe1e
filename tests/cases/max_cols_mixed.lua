-- Columns of which one input has words, and the other elements that lie apart.
local s = require "sectile"
return s.kernel {
  name = "max_cols_mixed",
  dims = { "i", "j" },
  inputs = {
    s.array("a", "u8", s.pitched { align = 32 }),
    s.array("b", "u8", s.col_major),
  },
  outputs = { s.array("o", "u32", s.row_major, { dims = { "j" }, reduce = "max" }) },
  body = "o = a + b;",
  sizes = { { i = 352, j = 262 } },
}
