-- Rows of one of the layouts run along the fastest mode, those of the other do not.
local s = require "sectile"
return s.kernel {
  name = "scan_either",
  dims = { "row", "col" },
  inputs = { s.array("a", s.record { { "p", "f16", 3 } }, s.aosoa { lanes = 16 }) },
  outputs = { s.array("least", "f16", s.choose { s.row_major, s.col_major }, { scan = "min" }) },
  body = "least = a.p[2];",
  sizes = { { row = 128, col = 288 } },
}
