-- Read every eighth float: b[i] = a[8 * i].
--
-- A sector for each float, and memory hands out two at once: the time is that of all 32 bytes. No
-- exchange can save a byte; loads of one float each, enough of them in flight, are all there is.
local s = require "sectile"

return s.kernel {
  name    = "stride8",
  dims    = { "i" },
  inputs  = { s.array("a", "f32", s.row_major, { at = { "8 * i" }, extents = { "8 * i" } }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 1 << 24 } },
}
