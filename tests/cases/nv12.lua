-- Colour at half the resolution of brightness, to triples of bytes.
local s = require "sectile"
local uv  = s.record { { "u", "u8" }, { "v", "u8" }, name = "uv_t" }
local rgb = s.record { { "r", "u8" }, { "g", "u8" }, { "b", "u8" }, name = "rgb_t" }
return s.kernel {
  name = "nv12_rgb",
  dims = { "row", "col" },
  inputs = {
    s.array("y", "u8"),
    s.array("c", uv, s.aos, { at = { "row // 2", "col // 2" },
      extents = { "(row + 1) // 2", "(col + 1) // 2" } }),
  },
  outputs = { s.array("o", rgb, s.aos) },
  body = [[
    int yy = 298 * (y - 16), u = c.u - 128, v = c.v - 128;
    int r = (yy + 409 * v + 128) >> 8;
    int g = (yy - 100 * u - 208 * v + 128) >> 8;
    int b = (yy + 516 * u + 128) >> 8;
    o.r = min(max(r, 0), 255);
    o.g = min(max(g, 0), 255);
    o.b = min(max(b, 0), 255);
  ]],
  sizes = { { row = 17280, col = 1920 } },
}
