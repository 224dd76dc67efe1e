-- Elements of ragged rows are kept in the middle of vectors, and where rows meet in one.
-- try: rows threads=64 lanes=64 vec=8 start=any hold=registers items=1 evict=none
-- try: rows threads=128 lanes=32 vec=8 start=any hold=none items=2 evict=none
local s = require "sectile"
return s.kernel {
  name    = "keep_ragged",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i64", s.row_major, { dims = { "row" } }),
    s.array("y", "u16", s.row_major, { dims = { "k" } }),
  },
  outputs = {
    s.array("x", "u16", s.row_major, { dims = { "k" }, inout = true }),
    s.array("z", "u16", s.row_major, { dims = { "k" } }),
    s.array("n", "i32", s.row_major, { dims = { "row" } }),
  },
  steps   = {
    { reduce = { m = { "max", "u32" } }, body = "m = x;" },
    { reduce = { c = { "sum", "i32" } }, body = "c = x == m;" },
    { body = "if (c > 1) keep(n); else n = c;" },
    { body = "z = x; if (y & 1) keep(z);" },
    { body = "if (x < m / 2) x = (unsigned short)(m - x); else keep(x);" },
  },
  sizes   = { { row = 300, k = 40000, ptr = "power" } },
}
