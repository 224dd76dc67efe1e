-- Fields by number: a field of one array is made of two of another, and added to.
-- try: map threads=256 items=2 vec=1 load=straight evict=none
local s = require "sectile"
local function field(name, n, of, inout)
  return s.array(name, "f32", s.row_major, {
    dims = { "e", of, "i", "l" }, at = { "e", n, "i", "l" }, inout = inout,
  })
end
return s.kernel {
  name    = "field_extents",
  dims    = { "e", "i", "l" },
  extents = { "from", "to" },
  inputs  = { field("x", "n_from", "F"), field("y", "n_to", "F") },
  outputs = { field("z", "n_to", "G", true) },
  body    = "z = fmaf(x, y, z);",
  sizes   = { { e = 54, i = 4, l = 63, F = 5, G = 3, from = 1, to = 2 } },
}
