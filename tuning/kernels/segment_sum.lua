-- Sums of segments that follow each other: total[i] = the sum of a[k] from offsets[i] to
-- offsets[i + 1] - 1, as for batches of sequences.
local s = require "sectile"

return s.kernel {
  name    = "segment_sum",
  dims    = { "i", "k" },
  ragged  = { k = "offsets" },
  inputs  = {
    s.array("offsets", "i32", s.row_major, { dims = { "i" } }),
    s.array("a", "f32", s.row_major, { dims = { "k" } }),
  },
  outputs = { s.array("total", "f32", s.row_major, { dims = { "i" }, reduce = "sum" }) },
  body    = "total = a;",
  sizes   = {
    { i = 1 << 18, k = 1 << 26, offsets = "uniform" },
    { i = 1 << 18, k = 1 << 26, offsets = "power" },
  },
}
