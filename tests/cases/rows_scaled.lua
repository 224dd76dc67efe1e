-- Rows of any length, each with a factor: all arrays but that one follow each other.
-- try: map threads=128 items=2 vec=4 load=straight rows=across evict=loads
-- try: map threads=128 items=1 vec=2 load=straight rows=across evict=none
local s = require "sectile"
return s.kernel {
  name = "rows_scaled",
  dims = { "batch", "row", "col" },
  inputs = {
    s.array("a", "f32"),
    s.array("f", "f32", s.row_major, { dims = { "row" } }),
  },
  outputs = { s.array("b", "f32"), s.array("d", "f32") },
  body = "b = a * f; d = a + (float)row + (float)col;",
  tolerance = 1e-6,
  sizes = { { batch = 7, row = 39, col = 61 }, { batch = 1, row = 170, col = 9 } },
}
