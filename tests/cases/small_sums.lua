-- Columns of floats of a byte, reduced.
local s = require "sectile"
return s.kernel {
  name = "small_sums",
  dims = { "row", "col" },
  inputs = { s.array("a", "e4m3"), s.array("m", "bool") },
  outputs = {
    s.array("most", "e4m3", s.row_major, { dims = { "col" }, reduce = "max" }),
    s.array("n", "u32", s.row_major, { dims = { "col" }, reduce = "sum" }),
    s.array("t", "f32", s.row_major, { dims = { "col" }, reduce = "sum" }),
  },
  body = "most = a; n = m; t = m ? a : (e4m3)0;",
  sizes = { { row = 1000, col = 77 }, { row = 512, col = 256 } },
}
