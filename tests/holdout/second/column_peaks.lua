-- The largest value of each column.
local s = require "sectile"
return s.kernel {
  name    = "column_peaks",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "col" }, reduce = "max" }) },
  body    = "y = a;",
  sizes   = { { row = 25000, col = 3000 } },
}
