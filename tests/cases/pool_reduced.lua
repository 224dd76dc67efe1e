-- Strided taps in a sum of rows.
local s = require "sectile"
return s.kernel {
  name    = "pool_reduced",
  dims    = { "y", "x" },
  inputs  = { s.array("a", "i32", s.row_major, {
    at = { "2 * y", "x" }, extents = { "2 * y", "x" }, taps = { below = { 1, 0 } },
  }) },
  outputs = { s.array("b", "i32", s.row_major, { dims = { "y" }, reduce = "sum" }) },
  body    = "b = a - 3 * below;",
  sizes   = { { y = 301, x = 512 }, { y = 77, x = 131 } },
}
