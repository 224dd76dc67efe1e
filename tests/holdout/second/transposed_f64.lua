-- An odd matrix of doubles, transposed.
local s = require "sectile"
return s.kernel {
  name    = "transposed_f64",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f64", s.row_major, { dims = { "col", "row" } }) },
  outputs = { s.array("b", "f64") },
  body    = "b = a;",
  sizes   = { { row = 3001, col = 5003 } },
}
