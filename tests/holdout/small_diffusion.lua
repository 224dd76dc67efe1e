-- Diffusion in a small box, seven points.
local s = require "sectile"
return s.kernel {
  name    = "small_diffusion",
  dims    = { "z", "y", "x" },
  inputs  = {
    s.array("t", "f32", s.row_major, { border = "wrap", taps = {
      up = { -1, 0, 0 }, down = { 1, 0, 0 }, north = { 0, -1, 0 }, south = { 0, 1, 0 },
      west = { 0, 0, -1 }, east = { 0, 0, 1 },
    } }),
  },
  outputs = { s.array("o", "f32") },
  body    = "o = fmaf(0.1f, up + down + north + south + west + east - 6.0f * t, t);",
  sizes   = { { z = 16, y = 32, x = 30 } },
  tolerance = 1e-4,
}
