-- Rows of floats are added onto a part of longer rows, four at a time or two; others beside them.
-- try: accumulate place=global threads=256 vec=4 items=2 ahead=0 runs=0 wide=4 replicas=1 blocks=1
-- try: accumulate place=global threads=512 vec=4 items=1 ahead=0 runs=0 wide=2 replicas=1 blocks=1
local s = require "sectile"
return s.kernel {
  name    = "accumulate_wide",
  dims    = { "i", "k", "j" },
  inputs  = {
    s.array("key", "u16", s.row_major, { dims = { "i", "k" } }),
    s.array("x", "f32"),
  },
  outputs = {
    s.array("y", "f32", s.row_major, { dims = { "m", "all" }, at = { "3 * key + 1", "j + 8" },
                                       accumulate = "add", inout = true }),
    s.array("sum", "u32", s.row_major, { dims = { "m" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "y = x * 2.0f; sum = j;",
  sizes   = { { i = 100, k = 3, j = 24, m = 90, all = 40 } },
}
