-- Advection in three dimensions, from upstream.
local s = require "sectile"
return s.kernel {
  name    = "upwind3d",
  dims    = { "z", "y", "x" },
  scalars = { { "h", "f32" } },
  inputs  = {
    s.array("a", "f32", s.row_major, { border = "zero", taps = {
      west = { 0, 0, -1 }, north = { 0, -1, 0 }, above = { -1, 0, 0 } } }),
  },
  outputs = { s.array("b", "f32") },
  body    = "b = a - h * (3.0f * a - west - north - above);",
  sizes   = { { z = 384, y = 400, x = 416 } },
  tolerance = 1e-4,
}
