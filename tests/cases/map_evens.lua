-- Even elements first, then odd ones: vectors of either, whose rows end anywhere.
-- try: map threads=256 items=2 vec=4 evict=loads
local s = require "sectile"
return s.kernel {
  name = "map_evens",
  dims = { "i" },
  inputs = {
    s.array("pick", "u16", s.row_major, { extents = { "3 * i" }, at = { "3 * i + 1" } }),
    s.array("a", "i64", s.row_major, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = { s.array("o", "i64", s.layout "evens.lua") },
  body = "o = a;",
  sizes = { { i = 98304, m = 11 } },
}
