-- Running maxima of four long rows.
local s = require "sectile"
return s.kernel {
  name    = "few_running",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { scan = "max" }) },
  body    = "y = a;",
  sizes   = { { row = 4, col = 150000 } },
}
