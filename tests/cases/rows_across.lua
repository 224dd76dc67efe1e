-- Rows of any length that change places: vectors lie across their ends.
-- try: map threads=128 items=2 vec=4 load=around rows=across evict=none
-- try: map threads=128 items=1 vec=2 load=around rows=across evict=loads
local s = require "sectile"
return s.kernel {
  name = "rows_across",
  dims = { "next", "left", "e" },
  inputs = {
    s.array("a", "f32"),
    s.array("w", "f32", s.row_major, { dims = { "next" } }),
    s.array("row", "f32", s.row_major, { dims = { "left", "next", "e" } }),
  },
  outputs = { s.array("stop", "f32", s.row_major, { dims = { "left", "next", "e" } }) },
  body = "stop = a * w + row + (float)(e + next);",
  tolerance = 1e-6,
  sizes = { { next = 61, left = 53, e = 33 }, { next = 7, left = 5, e = 31 },
            { next = 300, left = 11, e = 5 } },
}
