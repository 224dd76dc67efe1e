-- A copy that starts one element late: b[i] = a[i + 1].
--
-- Every warp's 128 bytes straddle one more sector (5 instead of 4); the neighbour warp finds it
-- in L1.
local s = require "sectile"

return s.kernel {
  name    = "shifted",
  dims    = { "i" },
  inputs  = { s.array("a", "f32", s.row_major, { at = { "i + 1" }, pad = 1 }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 1 << 26 } },
}
