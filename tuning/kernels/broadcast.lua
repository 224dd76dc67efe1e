-- Scale by a value that 32 neighbours share: b[i] = a[i] * w[i // 32].
--
-- All lanes of a warp read the same word of w: one sector, served to all of them at once.
local s = require "sectile"

return s.kernel {
  name    = "broadcast",
  dims    = { "i" },
  inputs  = {
    s.array("a", "f32"),
    s.array("w", "f32", s.row_major, { at = { "i // 32" }, extents = { "(i + 31) // 32" } }),
  },
  outputs = { s.array("b", "f32") },
  body    = "b = a * w;",
  sizes   = { { i = 1 << 26 } },
}
