-- Taps two elements apart: further inputs of map, each a vector of its own.
local s = require "sectile"
return s.kernel {
  name    = "pool_nhwc",
  dims    = { "n", "y", "x", "c" },
  inputs  = { s.array("a", "f16", s.row_major, {
    at = { "n", "2 * y", "2 * x", "c" }, extents = { "n", "2 * y", "2 * x", "c" },
    taps = { e = { 0, 0, 1, 0 }, s = { 0, 1, 0, 0 }, se = { 0, 1, 1, 0 } },
  }) },
  outputs = { s.array("b", "f16") },
  body    = "b = fmaxf(fmaxf(a, e), fmaxf(s, se));",
  sizes   = { { n = 3, y = 11, x = 13, c = 64 }, { n = 2, y = 7, x = 9, c = 24 } },
}
