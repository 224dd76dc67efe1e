-- The neighbours of one array are added to another in place.
local s = require "sectile"
return s.kernel {
  name    = "inout_stencil",
  dims    = { "i", "j" },
  inputs  = {
    s.array("a", "f32", s.row_major, {
      taps = { n = { -1, 0 }, s = { 1, 0 }, e = { 0, 1 }, w = { 0, -1 } }, border = "clamp",
    }),
  },
  outputs = { s.array("o", "f32", s.row_major, { inout = true }), s.array("p", "f32") },
  body    = "o += n + s + e + w; if (a < 1.5f) p = a; else keep(p);",
  sizes   = { { i = 1 << 12, j = 1024 } },
}
