-- Attention over a graph: a softmax over the edges of each node, whose scores both ends give.
local s = require "sectile"
return s.kernel {
  name    = "edge_softmax",
  dims    = { "node", "edge" },
  ragged  = { edge = "ptr" },
  inputs  = {
    s.array("ptr", "i32", s.row_major, { dims = { "node" } }),
    s.array("from", "i32", s.row_major, { dims = { "edge" }, fill = "random" }),
    s.array("left", "f32", s.row_major, { dims = { "n" }, at = { "from" } }),
    s.array("right", "f32", s.row_major, { dims = { "node" } }),
  },
  outputs = { s.array("a", "f32", s.row_major, { dims = { "edge" } }) },
  steps   = {
    { reduce = { m = "max" }, body = "float v = left + right; m = v > 0 ? v : 0.2f * v;" },
    { reduce = { t = "sum" },
      body = "float v = left + right; t = expf((v > 0 ? v : 0.2f * v) - m);" },
    { body = "float v = left + right; a = expf((v > 0 ? v : 0.2f * v) - m) / t;" },
  },
  sizes   = { { node = 500, edge = 9000, n = 500, ptr = "power" }, { node = 5, edge = 3, n = 2 } },
}
