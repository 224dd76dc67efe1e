-- Rows that start anywhere: vectors begin where words of the outputs do, so that a row's first and
-- last one move in part. An output that starts as the first one does, what is added to, inputs by
-- the words around their vectors, a value a row and one a column.
-- try: map threads=128 items=2 vec=4 load=straight rows=aligned march=row evict=none
-- try: map threads=256 items=2 vec=4 load=straight rows=aligned march=rows evict=loads
-- try: map threads=128 items=1 vec=8 load=straight rows=aligned march=row evict=streaming
local s = require "sectile"
return s.kernel {
  name    = "map_aligned",
  dims    = { "h", "i", "j" },
  inputs  = {
    s.array("a", "f32", s.strided { "(j + 3) * (i + 1)", "j + 3", 1 }),
    s.array("u", "u8", s.strided { "(j + 9) * (i + 2)", "j + 9", 1 }),
    s.array("w", "f32", s.row_major, { dims = { "h", "i" } }),
    s.array("v", "f32", s.row_major, { dims = { "j" } }),
  },
  outputs = {
    s.array("b", "f32", s.strided { "(j + 1) * (i + 1)", "j + 1", 1 }, { inout = true }),
    s.array("c", "i16", s.strided { "(j + 1) * (i + 1)", "j + 1", 1 }),
  },
  body    = "b += a * w + v; c = u;",
  sizes   = { { h = 5, i = 40, j = 130 } },
}
