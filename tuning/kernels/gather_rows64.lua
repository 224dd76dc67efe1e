-- Gather rows of 64 bytes by a permuted index: b[i] = table[pick[i]] with sixteen floats a row.
--
-- As much as memory hands out at once, so nothing is thrown away: as fast as a copy, if four lanes
-- share a row and each request covers whole sectors.
local s = require "sectile"
local row = s.record {
  { "a", "f32x4" }, { "b", "f32x4" }, { "c", "f32x4" }, { "d", "f32x4" }, name = "row64",
}

return s.kernel {
  name    = "gather_rows64",
  dims    = { "i" },
  inputs  = {
    s.array("pick", "i32"),
    s.array("table", row, s.aos, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = { s.array("b", row) },
  body    = "b = table;",
  sizes   = { { i = 1 << 24, m = 1 << 24, pick = "permuted" } },
}
