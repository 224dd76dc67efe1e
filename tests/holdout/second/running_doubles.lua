-- Running sums of rows of doubles.
local s = require "sectile"
return s.kernel {
  name    = "running_doubles",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f64") },
  outputs = { s.array("y", "f64", s.row_major, { scan = "sum" }) },
  body    = "y = a;",
  sizes   = { { row = 12000, col = 1500 } },
}
