-- The least of an index that a loop of 32 counts and a constant: an int and a long long were
-- compared.
-- try: map threads=256 items=1 vec=2 unroll=32 load=straight march=row evict=none
local s = require "sectile"
return s.kernel {
  name = "least_of_unrolled",
  dims = { "i", "j", "k" },
  inputs = {
    s.array("a", "u16", s.row_major, { dims = { "i", "j" } }),
    s.array("b", "u16", s.row_major, { at = { "i // 4", "min(j, 3)", "k" },
      extents = { "(i + 3) // 4", "4", "k" } }),
  },
  outputs = {
    s.array("o", "u16", s.row_major, { dims = { "i", "ch", "j", "k" }, at = { "i", "1", "j", "k" },
      extents = { "i", "2", "j", "k" }, pad = { 0, 0, 1, 0 } }),
  },
  body = "o = b;",
  sizes = { { i = 27, j = 32, k = 222 } },
}
