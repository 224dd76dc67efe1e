-- A step of the wave equation, leapfrog, the older field overwritten.
local s = require "sectile"
return s.kernel {
  name    = "wave2d",
  dims    = { "row", "col" },
  inputs  = {
    s.array("u", "f32", s.row_major, { border = "zero", taps = {
      n = { -1, 0 }, so = { 1, 0 }, w = { 0, -1 }, e = { 0, 1 } } }),
    s.array("c", "f32"),
  },
  outputs = { s.array("old", "f32", s.row_major, { inout = true }) },
  body    = "old = 2.0f * u - old + c * (n + so + w + e - 4.0f * u);",
  sizes   = { { row = 6000, col = 9000 } },
  tolerance = 1e-3,
}
