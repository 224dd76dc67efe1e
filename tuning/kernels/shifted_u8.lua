-- A copy of bytes that starts one late: b[i] = a[i + 1].
--
-- No word of the input is a word of the output. Read by single bytes it costs sixteen times the
-- requests of a copy; by the two aligned words that each one straddles, one more in sixteen.
local s = require "sectile"

return s.kernel {
  name    = "shifted_u8",
  dims    = { "i" },
  inputs  = { s.array("a", "u8", s.row_major, { at = { "i + 1" }, pad = 1 }) },
  outputs = { s.array("b", "u8") },
  body    = "b = a;",
  sizes   = { { i = 1 << 28 } },
}
