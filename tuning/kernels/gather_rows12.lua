-- Gather records of three floats by a permuted index: b[i] = table[pick[i]], as with vertices.
--
-- 12 bytes straddle a sector now and then. Three or four lanes that share a record read it in one
-- request and store neighbouring floats.
local s = require "sectile"
local point = s.record { { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, name = "point" }

return s.kernel {
  name    = "gather_rows12",
  dims    = { "i" },
  inputs  = {
    s.array("pick", "i32"),
    s.array("table", point, s.aos, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = { s.array("b", point) },
  body    = "b = table;",
  sizes   = { { i = 1 << 24, m = 1 << 24, pick = "permuted" } },
}
