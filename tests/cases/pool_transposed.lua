-- Strided taps whose results change places.
local s = require "sectile"
return s.kernel {
  name    = "pool_transposed",
  dims    = { "y", "x" },
  inputs  = { s.array("a", "f32", s.row_major, {
    at = { "2 * y", "x" }, extents = { "2 * y", "x" }, taps = { below = { 1, 0 } },
  }) },
  outputs = { s.array("b", "f32", s.col_major) },
  body    = "b = 0.5f * (a + below);",
  sizes   = { { y = 301, x = 512 }, { y = 128, x = 256 } },
}
