-- Rows that blocks of a cluster have together, in place, with what there is once a row: all blocks
-- read it, and one of them changes it after the cluster's barrier.
-- try: rows threads=512 lanes=2048 vec=4 start=vector hold=registers items=5 evict=none
-- try: rows threads=512 lanes=4096 vec=4 start=vector hold=registers items=3 evict=streaming
local s = require "sectile"
return s.kernel {
  name    = "inout_steps_cluster",
  dims    = { "row", "col" },
  inputs  = {},
  outputs = {
    s.array("x", "f32", s.row_major, { inout = true }),
    s.array("most", "f32", s.row_major, { dims = { "row" }, inout = true }),
  },
  steps   = {
    { reduce = { m = "max" }, body = "m = x * most;" },
    { row = { old = "f32" }, body = "old = most; most = m; if (m < old) keep(most);" },
    { body = "if (x < 1.5f) x = x * m - old; else keep(x);" },
  },
  sizes   = { { row = 6, col = 33000 } },
}
