-- Rows of any length: bytes at a pitch, and shifted ones, to floats that follow each other.
-- try: map threads=128 items=2 vec=4 load=around rows=across evict=none
-- try: map threads=256 items=1 vec=2 load=around rows=across evict=stores
local s = require "sectile"
return s.kernel {
  name = "rows_beside",
  dims = { "r", "c" },
  inputs = {
    s.array("a", "u8", s.pitched { align = 64 }),
    s.array("x", "f64", s.row_major, { at = { "r + 1", "c" }, pad = { 1, 1 } }),
  },
  outputs = { s.array("b", "f32") },
  body = "b = (float)x + a;",
  sizes = { { r = 301, c = 77 }, { r = 1, c = 1001 }, { r = 1000, c = 5 } },
}
