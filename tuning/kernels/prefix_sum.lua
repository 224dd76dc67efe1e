-- Running sums of an array: o[i] = a[0] + ... + a[i].
--
-- Reading and writing once is all that counts, so blocks do not wait for each other in a chain:
-- each learns what lies before it from sums of tiles, of groups of tiles, and so on.
local s = require "sectile"

return s.kernel {
  name    = "prefix_sum",
  dims    = { "i" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("o", "f32", s.row_major, { scan = "sum" }) },
  body    = "o = a;",
  sizes   = { { i = 1 << 28 }, { i = 100000 } },
}
