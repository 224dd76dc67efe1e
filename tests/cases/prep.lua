-- Bytes of pixels to planes of floats: operands of two sizes change their order.
-- try: map threads=128 items=2 vec=4 unroll=3 load=staged team=block evict=loads
local s = require "sectile"
return s.kernel {
  name = "prep_nchw",
  dims = { "n", "c", "h", "w" },
  inputs = {
    s.array("x", "u8", s.row_major, { dims = { "n", "h", "w", "c" } }),
    s.array("mean", "f32", s.row_major, { dims = { "c" } }),
    s.array("inv_std", "f32", s.row_major, { dims = { "c" } }),
  },
  outputs = { s.array("y", "f32") },
  body = "y = (x * (1.0f / 255.0f) - mean) * inv_std;",
  sizes = { { n = 256, c = 3, h = 224, w = 224 } },
}
