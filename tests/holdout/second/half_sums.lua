-- The sums of long rows of halves.
local s = require "sectile"
return s.kernel {
  name    = "half_sums",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f16") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body    = "y = a;",
  sizes   = { { row = 6000, col = 14000 } },
}
