-- As min_chosen.lua in the other order: starting anywhere is for what lies along the reduced mode.
-- no: reduce a=row_major threads=512 lanes=8 vec=4 start=any items=8 outputs=1 blocks=1 evict=none
local s = require "sectile"
return s.kernel {
  name = "min_chosen_apart",
  dims = { "i", "j" },
  inputs = { s.array("a", "i32", s.choose { s.col_major, s.row_major }) },
  outputs = { s.array("o", "i32", s.row_major, { dims = { "j" }, reduce = "min" }) },
  body = "o = a;",
  sizes = { { i = 258, j = 67 }, { i = 1024, j = 40 } },
}
