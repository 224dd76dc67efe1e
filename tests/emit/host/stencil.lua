-- A stencil whose rows need one row before them and two after.
local s = require "sectile"
return s.kernel {
  host = true,
  name = "stencil", dims = { "y", "x" },
  inputs = { s.array("a", "f32", s.row_major, {
    taps = { up = { -1, 0 }, below = { 2, 0 }, left = { 0, -1 } }, border = "clamp" }) },
  outputs = { s.array("b", "f32") },
  body = "b = up + 2.0f * a + 4.0f * below + 8.0f * left;",
  sizes = { { y = 300, x = 40 } },
}
