-- Heat through a material whose conductivity differs, seven points.
local s = require "sectile"
return s.kernel {
  name    = "heat3d_f64",
  dims    = { "z", "y", "x" },
  scalars = { { "h", "f64" } },
  inputs  = {
    s.array("t", "f64", s.row_major, { border = "clamp", taps = {
      up = { -1, 0, 0 }, down = { 1, 0, 0 }, north = { 0, -1, 0 }, south = { 0, 1, 0 },
      west = { 0, 0, -1 }, east = { 0, 0, 1 },
    } }),
    s.array("k", "f64"),
  },
  outputs = { s.array("o", "f64") },
  body    = "o = fma(h * k, up + down + north + south + west + east - 6.0 * t, t);",
  sizes   = { { z = 320, y = 320, x = 320 } },
  tolerance = 1e-9,
}
