-- Where kept elements go: an exclusive sum of flags, row by row.
local s = require "sectile"
return s.kernel {
  name    = "row_places",
  dims    = { "row", "col" },
  inputs  = { s.array("keep_it", "u8") },
  outputs = { s.array("o", "i32", s.row_major, { scan = "sum", exclusive = true }) },
  body    = "o = keep_it & 1;",
  sizes   = { { row = 40000, col = 500 } },
}
