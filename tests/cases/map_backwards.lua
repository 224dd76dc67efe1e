-- One input backwards, one that 2 rows and 8 columns share: split, reversed, loaded once.
local s = require "sectile"
return s.kernel {
  name = "map_backwards",
  dims = { "row", "i" },
  inputs = {
    s.array("p", "f32", s.row_major, { at = { "row", "199-i" }, extents = { "row", "200" } }),
    s.array("x", "f32"),
    s.array("h", "f32", s.row_major,
      { at = { "row // 2", "i // 8" }, extents = { "(row+1)//2", "i//8" } }),
  },
  outputs = { s.array("q", "f32") },
  body = "q = p + x * h;",
  tolerance = 1e-6,
  sizes = { { i = 200, row = 77 } }
}
