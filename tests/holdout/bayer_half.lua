-- Raw sensor data to colours at half the resolution.
local s = require "sectile"
local rgb = s.record { { "r", "f32" }, { "g", "f32" }, { "b", "f32" }, name = "rgb_t" }
return s.kernel {
  name    = "bayer_half",
  dims    = { "row", "col" },
  inputs  = {
    s.array("red", "u16", s.row_major, {
      at = { "2 * row", "2 * col" }, extents = { "2 * row", "2 * col" },
      taps = { g0 = { 0, 1 }, g1 = { 1, 0 }, blue = { 1, 1 } } }),
  },
  outputs = { s.array("o", rgb) },
  body    = "o.r = red; o.g = 0.5f * (g0 + g1); o.b = blue;",
  sizes   = { { row = 3000, col = 4000 } },
}
