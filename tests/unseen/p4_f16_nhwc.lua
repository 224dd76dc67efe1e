-- Images of half-precision channels, last to first: lines of 124 bytes, columns of odd length.
local s = require "sectile"
return s.kernel {
  name = "p4_f16_nhwc", dims = { "n", "c", "h", "w" },
  inputs  = { s.array("a", "f16", s.row_major, { dims = { "n", "h", "w", "c" } }) },
  outputs = { s.array("b", "f16") },
  body    = "b = a;",
  sizes   = { { n = 128, c = 62, h = 113, w = 113 } },
}
