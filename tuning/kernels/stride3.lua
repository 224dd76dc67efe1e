-- Read every third float: b[i] = a[3 * i].
--
-- A warp touches 12 sectors for 128 useful bytes; two thirds of every sector are paid for and
-- thrown away.
local s = require "sectile"

return s.kernel {
  name    = "stride3",
  dims    = { "i" },
  inputs  = { s.array("a", "f32", s.row_major, { at = { "3 * i" }, extents = { "3 * i" } }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 1 << 24 } },
}
