-- Rows of bytes that lie apart: where they have one element, a block adds its share of each alone.
local s = require "sectile"
return s.kernel {
  name = "sum_short_rows",
  dims = { "i", "k", "j" },
  inputs = { s.array("a", "u8"), s.array("b", "u8") },
  outputs = { s.array("o", "u32", s.row_major, { dims = { "k" }, reduce = "sum" }) },
  body = "o = a * b;",
  sizes = { { i = 1000, j = 10, k = 77 } },
}
