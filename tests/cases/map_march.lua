-- Arrays whose rows start anywhere: a thread has vectors in neighbouring rows. What is added to,
-- what is kept and a value a plane move with them; a mode of 13 rows ends inside a thread's.
-- try: map threads=128 items=4 vec=1 unroll=1 load=straight march=rows evict=loads
-- try: map threads=256 items=4 vec=2 unroll=1 load=straight march=rows evict=none
-- try: map threads=128 items=2 vec=4 unroll=1 load=around march=rows evict=streaming
local s = require "sectile"
return s.kernel {
  name    = "map_march",
  dims    = { "h", "i", "j", "l" },
  inputs  = {
    s.array("a", "f32", s.strided { "(l + 3) * j * (i + 1)", "(l + 3) * j", "l + 3", 1 }),
    s.array("w", "f32", s.row_major, { dims = { "h", "i" } }),
  },
  outputs = {
    s.array("b", "f32", s.strided { "(l + 1) * j * i", "(l + 1) * j", "l + 1", 1 },
      { inout = true }),
    s.array("c", "u16", s.strided { "(l + 2) * j * i", "(l + 2) * j", "l + 2", 1 }),
  },
  body    = "b += a * w; if (a < 1.5f) c = a; else keep(c);",
  sizes   = { { h = 5, i = 7, j = 13, l = 130 } },
}
