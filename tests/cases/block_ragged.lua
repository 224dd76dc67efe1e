-- Sums of blocks of 4-bit weights in rows of different lengths, which mostly cancel: right orders
-- differ by up to 2.3e-4 of a sum (two parts of a row of 4,097), a lost element by 1e-2.
local s = require "sectile"
return s.kernel {
  name = "block_ragged",
  dims = { "row", "k" },
  ragged = { k = "ptr" },
  inputs = {
    s.array("ptr", "i32", s.row_major, { dims = { "row" } }),
    s.array("w", s.record { { "d", "f32" }, { "q", "i4", 8 } }, s.choose { s.aos, s.soa },
      { dims = { "k" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body = "int t = 0; for (int n = 0; n < 8; n++) t += w.q[n] * w.q[7 - n]; y = t * w.d;",
  tolerance = 1e-3,
  sizes = { { row = 300, k = 5000, ptr = "power" } },
}
