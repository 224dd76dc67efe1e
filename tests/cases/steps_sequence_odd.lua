-- Rows of odd length that several blocks have: vectors from an aligned element on. Rows longer than
-- registers hold, in the shared memory of a cluster.
-- try: rows threads=256 lanes=256 vec=4 start=any hold=none items=2 evict=none grid=528
-- try: rows threads=1024 lanes=1024 vec=1 start=vector hold=none items=4 evict=none grid=264
-- try: rows threads=512 lanes=4096 vec=1 start=vector hold=shared items=40 evict=none grid=0
local s = require "sectile"
return s.kernel {
  name    = "steps_sequence_odd",
  dims    = { "row", "col" },
  inputs  = { s.array("x", "f32"), s.array("w", "u8", s.row_major, { dims = { "row" } }) },
  outputs = { s.array("y", "f32"), s.array("l", "f32", s.row_major, { dims = { "row" } }) },
  steps   = {
    { reduce = { m = "max" }, body = "m = x * w;" },
    { reduce = { t = "sum" }, body = "t = expf(x * w - m);" },
    { row = { lse = "f32" }, body = "lse = m + logf(t);" },
    { body = "l = lse;" },
    { body = "y = x * w - lse;" },
  },
  sizes   = { { row = 3, col = 150001 } },
}
