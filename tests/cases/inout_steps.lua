-- Rows are updated in place: a thread loads the elements that it stores, and no others. The first
-- vectors of a row hold elements of the row before.
-- try: rows threads=256 lanes=256 vec=4 start=any hold=registers items=1 evict=none
-- try: rows threads=64 lanes=64 vec=4 start=any hold=registers items=3 evict=streaming
-- try: rows threads=128 lanes=128 vec=1 start=vector hold=registers items=5 evict=none
-- try: direct threads=256
local s = require "sectile"
return s.kernel {
  name    = "inout_steps",
  dims    = { "row", "col" },
  inputs  = { s.array("w", "f32", nil, { dims = { "col" } }) },
  outputs = {
    s.array("x", "f32", s.row_major, { inout = true }),
    s.array("most", "f32", s.row_major, { dims = { "row" }, inout = true }),
  },
  steps   = {
    { reduce = { m = "max", n = { "sum", "i32" } }, body = "m = x * most; n = x > w;" },
    { row = { q = "i32" }, body = "most = fmaxf(m, most); q = n & 7;" },
    { body = "if (x <= w) x = x * m - (float)q;" },
  },
  sizes   = { { row = 1000, col = 579 } },
  tolerance = 1e-6,
}
