-- A blur along both diagonals, two neighbours each way.
local s = require "sectile"
return s.kernel {
  name    = "cross_blur",
  dims    = { "row", "col" },
  inputs  = {
    s.array("a", "f32", s.row_major, { border = "clamp", taps = {
      nw = { -1, -1 }, ne = { -1, 1 }, sw = { 1, -1 }, se = { 1, 1 },
      nww = { -2, -2 }, nee = { -2, 2 }, sww = { 2, -2 }, see = { 2, 2 } } }),
  },
  outputs = { s.array("b", "f32") },
  body    = "b = 0.2f * a + 0.15f * (nw + ne + sw + se) + 0.05f * (nww + nee + sww + see);",
  sizes   = { { row = 5000, col = 7000 } },
  tolerance = 1e-4,
}
