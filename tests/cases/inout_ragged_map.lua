-- Elements of ragged rows are scaled in place, without steps.
-- try: rows threads=128 lanes=8 vec=4 start=any hold=none items=2 evict=streaming
local s = require "sectile"
return s.kernel {
  name    = "inout_ragged_map",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i32", s.row_major, { dims = { "row" } }),
    s.array("w", "f32", s.row_major, { dims = { "row" } }),
  },
  outputs = { s.array("x", "f32", s.row_major, { dims = { "k" }, inout = true }) },
  body    = "if (w > 0.0f) x *= w;",
  sizes   = { { row = 1000, k = 50000, ptr = "uniform" } },
}
