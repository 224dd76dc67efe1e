-- Twice as many rows and columns, by bilinear weights.
local s = require "sectile"
return s.kernel {
  name    = "upsample",
  dims    = { "row", "col" },
  inputs  = {
    s.array("a", "f32", s.row_major, {
      at = { "row // 2", "col // 2" }, extents = { "(row + 1) // 2", "(col + 1) // 2" },
      taps = { e = { 0, 1 }, so = { 1, 0 }, se = { 1, 1 } }, border = "clamp" }),
  },
  outputs = { s.array("b", "f32") },
  body    = [[
    float x = col % 2 ? 0.5f : 0.0f, y = row % 2 ? 0.5f : 0.0f;
    b = (1.0f - y) * ((1.0f - x) * a + x * e) + y * ((1.0f - x) * so + x * se);
  ]],
  sizes   = { { row = 8192, col = 8192 } },
  tolerance = 1e-5,
}
