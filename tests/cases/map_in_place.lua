-- Two inputs and two outputs of records of the same size: outputs take the inputs' tiles.
-- try: map threads=128 items=2 vec=1 load=staged store=staged team=warp evict=none
-- try: map threads=256 items=1 vec=2 load=staged store=staged team=block evict=loads
local s = require "sectile"
local r = s.record { { "x", "f32" }, { "y", "i16" }, { "z", "u8" }, { "w", "u8" },
  { "v", "f32" }, name = "rec" }
local small = s.record { { "x", "i16" }, { "y", "i16" }, { "z", "i16" }, name = "small" }
return s.kernel {
  name = "map_in_place",
  dims = { "i" },
  inputs = { s.array("a", r), s.array("b", r), s.array("c", small) },
  outputs = { s.array("o", r), s.array("p", small), s.array("q", r) },
  body = [[
    o.x = b.v; o.y = a.y + b.y; o.z = a.w; o.w = b.z; o.v = a.x;
    p.x = c.z; p.y = c.x; p.z = c.y;
    q = a; q.v = b.x;
  ]],
  sizes = { { i = 40001 }, { i = 65536 } },
}
