-- Seven rows of f32 to records of seven, of odd length: rows start off a word, the tile does not.
-- try: map threads=128 items=1 vec=1 unroll=7 store=staged team=warp evict=loads
local s = require "sectile"
return s.kernel {
  name = "thin_join",
  dims = { "i", "j" },
  inputs = { s.array("a", "f32"), s.array("w", "f64", s.row_major, { dims = { "i" } }) },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "j", "i" } }) },
  body = "b = (float)(a * w);",
  sizes = { { i = 7, j = 10001 } },
}
