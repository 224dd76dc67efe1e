-- Elements of ragged rows are kept in part, without steps.
-- try: rows threads=128 lanes=8 vec=4 start=any hold=none items=2 evict=streaming
local s = require "sectile"
return s.kernel {
  name    = "keep_ragged_map",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i32", s.row_major, { dims = { "row" } }),
    s.array("w", "f32", s.row_major, { dims = { "row" } }),
    s.array("v", "f32", s.row_major, { dims = { "k" } }),
  },
  outputs = { s.array("x", "f32", s.row_major, { dims = { "k" } }) },
  body    = "x = v * w; if (v > 1.5f || w < 0.0f) keep(x);",
  sizes   = { { row = 1000, k = 50000, ptr = "uniform" } },
}
