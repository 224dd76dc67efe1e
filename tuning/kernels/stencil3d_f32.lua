-- A 7-point stencil in three dimensions: Jacobi's step for Poisson's equation, zero outside.
local s = require "sectile"

return s.kernel {
  name    = "stencil3d_f32",
  dims    = { "z", "y", "x" },
  scalars = { { "k", "f32" } },
  inputs  = {
    s.array("a", "f32", s.row_major, {
      taps = {
        above = { -1, 0, 0 }, below = { 1, 0, 0 },
        north = { 0, -1, 0 }, south = { 0, 1, 0 },
        west  = { 0, 0, -1 }, east  = { 0, 0, 1 },
      },
      border = "zero",
    }),
  },
  outputs = { s.array("b", "f32", s.row_major) },
  -- fmaf says where a product is rounded; else compilers decide, one kernel so and another not
  body    = "b = fmaf(k, fmaf(-6.0f, a, above + below + north + south + west + east), a);",
  sizes   = { { z = 512, y = 512, x = 512 }, { z = 129, y = 251, x = 307 } },
}
