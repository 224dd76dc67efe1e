-- Six neighbours, zero beyond the border.
local s = require "sectile"
return s.kernel {
  name = "blur_f32", dims = { "r", "c" },
  inputs = {
    s.array("a", "f32", s.row_major, {
      taps = {
        n = { -1, 0 }, s = { 1, 0 }, w = { 0, -1 }, e = { 0, 1 }, nw = { -1, -1 }, se = { 1, 1 },
      },
      border = "zero",
    }),
  },
  outputs = { s.array("b", "f32") },
  tolerance = 1e-5,
  body  = "b = 0.25f * a + 0.125f * (((n + s) + (w + e)) + (nw + se));",
  sizes = { { r = 8000, c = 8064 } },
}
