-- Gather rows of 16 bytes by a permuted index: b[i] = table[pick[i]] with four floats a row.
--
-- Half a sector a row: as wide an access as a thread can make, and enough of them in flight.
local s = require "sectile"

return s.kernel {
  name    = "gather_rows16",
  dims    = { "i" },
  inputs  = {
    s.array("pick", "i32"),
    s.array("table", "f32x4", s.row_major, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = { s.array("b", "f32x4") },
  body    = "b = table;",
  sizes   = { { i = 1 << 24, m = 1 << 24, pick = "permuted" } },
}
