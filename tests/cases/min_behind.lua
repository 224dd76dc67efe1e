-- Reduces what starts three elements behind a vector.
-- try: reduce threads=512 lanes=512 vec=4 start=any items=8 outputs=1 blocks=528 evict=none
local s = require "sectile"
return s.kernel {
  name = "min_behind",
  dims = { "i" },
  inputs = { s.array("a", "f32", s.row_major, { at = { "i + 3" }, pad = { 5 } }) },
  outputs = { s.array("o", "f32", s.row_major, { dims = {}, reduce = "min" }) },
  body = "o = a;",
  sizes = { { i = 65536 } },
}
