-- Rows of odd length: elements are kept in the middle of vectors, at the ends of rows, where a mask
-- says so, and once a row.
-- try: rows threads=256 lanes=256 vec=4 start=any hold=registers items=1 evict=none
-- try: rows threads=64 lanes=64 vec=4 start=any hold=registers items=3 evict=streaming
-- try: rows threads=128 lanes=128 vec=1 start=vector hold=registers items=5 evict=none
-- try: direct threads=256
local s = require "sectile"
local pair = s.record { { "a", "f32" }, { "b", "i16" } }
return s.kernel {
  name    = "keep_steps",
  dims    = { "row", "col" },
  inputs  = { s.array("mask", "u8", nil, { dims = { "row" } }) },
  outputs = {
    s.array("x", "f32", s.row_major, { inout = true }),
    s.array("q", pair, s.soa),
    s.array("l", "f32", s.row_major, { dims = { "row" } }),
  },
  steps   = {
    { reduce = { m = "max" }, body = "m = x;" },
    { row = { r = "f32" }, body = "r = 0.5f * m; l = m; if ((mask & 1) == 0) keep(l);" },
    { body = [[
      q.a = x; q.b = (short)col; if (x > r) keep(q);
      if ((mask & 1) == 0 || x <= r) keep(x); else x = x - m;
    ]] },
  },
  sizes   = { { row = 1000, col = 579 } },
}
