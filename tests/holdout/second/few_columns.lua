-- The sums of a few columns.
local s = require "sectile"
return s.kernel {
  name    = "few_columns",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "col" }, reduce = "sum" }) },
  body    = "y = a;",
  sizes   = { { row = 700, col = 40 } },
}
