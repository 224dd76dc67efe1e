-- Three planes of bytes to triples.
-- try: map threads=128 items=1 vec=16 unroll=3 store=staged team=warp evict=loads
local s = require "sectile"
return s.kernel {
  name = "rgb_join",
  dims = { "i", "j" },
  inputs = { s.array("a", "u8") },
  outputs = { s.array("b", "u8", s.row_major, { dims = { "j", "i" } }) },
  body = "b = a;",
  sizes = { { i=3, j=67108864 } },
}
