-- Records in blocks of 16, each field contiguous, through shared memory in and out.
-- try: map threads=128 items=1 vec=1 load=staged store=staged team=warp evict=none
-- try: map threads=256 items=1 vec=4 load=staged store=staged team=block evict=loads
local s = require "sectile"
local r = s.record { { "x", "f64" }, { "y", "i32" }, { "z", "u16" }, { "w", "u8" }, { "v", "i8" },
  name = "rec" }
return s.kernel {
  name = "map_blocks",
  dims = { "i" },
  inputs = { s.array("a", r, s.aosoa { lanes = 16 }), s.array("b", r) },
  outputs = { s.array("o", r, s.aosoa { lanes = 16 }), s.array("p", "f64") },
  body = "o = a; o.y = b.y; o.v = b.w; p = a.x + b.x;",
  sizes = { { i = 40000 }, { i = 65536 } },
}
