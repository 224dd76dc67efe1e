-- A record that is an input and of which no field is read.
local s = require "sectile"
local pair = s.record { { "x", "u32" }, { "y", "u32" } }
return s.kernel {
  name = "scan_unread",
  dims = { "row", "col" },
  inputs = { s.array("a", pair, s.choose { s.aos, s.soa }) },
  outputs = { s.array("n", "u32", s.row_major, { scan = "sum", exclusive = true }) },
  body = "n = row + 1;",
  sizes = { { row = 64, col = 1440 } },
}
