-- Read every second float: b[i] = a[2 * i].
--
-- Every sector is paid for and half of it thrown away: 8 sectors a request where a copy has 4. No
-- wider word helps, because the machine loads only what is used of one.
local s = require "sectile"

return s.kernel {
  name    = "stride2",
  dims    = { "i" },
  inputs  = { s.array("a", "f32", s.row_major, { at = { "2 * i" }, extents = { "2 * i" } }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 1 << 24 } },
}
