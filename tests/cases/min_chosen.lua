-- Least of rows that lie one after the other in one layout and apart in the other: candidates of
-- the first, whose blocks share outputs, wrote those of the second several times.
-- no: reduce a=col_major threads=512 lanes=16 vec=2 items=4 outputs=1 blocks=264 evict=none
local s = require "sectile"
return s.kernel {
  name = "min_chosen",
  dims = { "i", "j" },
  inputs = { s.array("a", "i32", s.choose { s.row_major, s.col_major }) },
  outputs = { s.array("o", "i32", s.row_major, { dims = { "j" }, reduce = "min" }) },
  body = "o = a;",
  sizes = { { i = 258, j = 67 }, { i = 128, j = 1366 } },
}
