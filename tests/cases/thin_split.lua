-- Pixels to planes and back, with operands that one of the two modes does not move.
-- try: map threads=128 items=1 vec=4 unroll=5 load=staged store=staged team=block evict=none
-- try: map threads=256 items=1 vec=4 unroll=5 load=straight store=staged team=warp evict=none
local s = require "sectile"
return s.kernel {
  name = "thin_split",
  dims = { "n", "c", "j" },
  inputs = {
    s.array("x", "u8", s.row_major, { dims = { "n", "j", "c" } }),
    s.array("bias", "f16", s.row_major, { dims = { "c" } }),
    s.array("mask", "i16", s.row_major, { dims = { "n", "j" } }),
    s.array("scale", "f32", s.row_major, { dims = { "n", "c" } }),
  },
  outputs = { s.array("y", "f32"), s.array("z", "u8", s.row_major, { dims = { "n", "j", "c" } }) },
  body = "y = mask == 0 ? 0.0f : x * scale + (float)bias; z = x + mask;",
  sizes = { { n = 6, c = 5, j = 4000 }, { n = 3, c = 5, j = 8008 } },
}
