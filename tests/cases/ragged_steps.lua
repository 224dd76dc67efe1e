-- Softmax of sequences beside a value each: what comes first is held, the rest of a long one read
-- again; vectors from an aligned element on.
-- try: rows threads=64 lanes=32 vec=4 start=any hold=registers items=2 evict=none
-- try: rows threads=64 lanes=64 vec=4 start=any hold=registers items=1 evict=streaming
-- try: rows threads=64 lanes=32 vec=1 start=vector hold=registers items=5 evict=none
-- try: rows threads=64 lanes=4 vec=4 start=any hold=none items=2 evict=none
local s = require "sectile"
return s.kernel {
  name    = "ragged_steps",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i64", s.row_major, { dims = { "row" } }),
    s.array("x", "f32", s.row_major, { dims = { "k" } }),
    s.array("b", "bf16", s.row_major, { dims = { "k" }, at = { "k + 3" }, pad = 5 }),
  },
  outputs = {
    s.array("y", "f32", s.row_major, { dims = { "k" } }),
    s.array("n", "i32", s.row_major, { dims = { "row" } }),
  },
  steps   = {
    { reduce = { m = "max", c = { "sum", "i32" } },
      body = "m = x + (float)b; c = (int)(k - ptr);" },
    { reduce = { t = "sum" }, body = "t = expf(x + (float)b - m);" },
    { row = { r = "f32" }, body = "r = 1.0f / t; n = c;" },
    { body = "y = expf(x + (float)b - m) * r;" },
  },
  sizes   = { { row = 300, k = 45000 } },
}
