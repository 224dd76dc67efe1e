-- Gradient magnitude of a grey image, by Sobel's operator.
local s = require "sectile"
return s.kernel {
  name    = "sobel_u8",
  dims    = { "row", "col" },
  inputs  = {
    s.array("a", "u8", s.row_major, { border = "clamp", taps = {
      nw = { -1, -1 }, n = { -1, 0 }, ne = { -1, 1 }, w = { 0, -1 }, e = { 0, 1 },
      sw = { 1, -1 }, so = { 1, 0 }, se = { 1, 1 },
    } }),
  },
  outputs = { s.array("g", "u8") },
  body    = [[
    int x = ne + 2 * e + se - nw - 2 * w - sw;
    int y = sw + 2 * so + se - nw - 2 * n - ne;
    g = min(255, abs(x) + abs(y));
  ]],
  sizes   = { { row = 4320, col = 7680 }, { row = 480, col = 640 } },
}
