-- A transpose of pairs, and of floats of a byte.
local s = require "sectile"
return s.kernel {
  name = "small_transpose",
  dims = { "row", "col" },
  inputs = { s.array("a", "e5m2", s.col_major) },
  outputs = { s.array("b", "e4m3") },
  body = "b = -a;",
  sizes = { { row = 300, col = 77 }, { row = 512, col = 256 } },
}
