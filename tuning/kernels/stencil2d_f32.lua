-- A 5-point stencil: one step of diffusion on a plate whose edge takes the value beside it.
local s = require "sectile"

return s.kernel {
  name    = "stencil2d_f32",
  dims    = { "row", "col" },
  scalars = { { "k", "f32" } },
  inputs  = {
    s.array("a", "f32", s.row_major, {
      taps   = { north = { -1, 0 }, south = { 1, 0 }, west = { 0, -1 }, east = { 0, 1 } },
      border = "clamp",
    }),
  },
  outputs = { s.array("b", "f32", s.row_major) },
  -- fmaf says where a product is rounded; else compilers decide, one kernel so and another not
  body    = "b = fmaf(k, fmaf(-4.0f, a, north + south + west + east), a);",
  sizes   = { { row = 8192, col = 8192 }, { row = 4099, col = 2047 } },
}
