-- Running counts of what a mask selects of records.
local s = require "sectile"
local flagged = s.record { { "v", "i16" }, { "on", "u1", 8 } }
return s.kernel {
  name = "block_scan",
  dims = { "row", "col" },
  inputs = { s.array("a", flagged, s.choose { s.aos, s.soa }) },
  outputs = { s.array("n", "u32", s.row_major, { scan = "sum" }) },
  body = "n = a.on[0] + a.on[7] + a.on[a.v & 7];",
  sizes = { { row = 10, col = 3000 } },
}
