-- A mode of four elements is thin where rows lie along it, and not in the other layout.
-- no: map o=col_major threads=256 items=1 vec=8 unroll=4 load=straight march=row evict=loads
local s = require "sectile"
return s.kernel {
  name = "thin_chosen",
  dims = { "i", "j" },
  scalars = { { "s1", "f32" }, { "s2", "i32" } },
  inputs = {
    s.array("a", "u16", s.row_major,
      { dims = { "i" }, at = { "i + j" }, extents = { "i + j" } }),
    s.array("b", "u16", s.row_major,
      { dims = { "j" }, at = { "4 * j + 1" }, extents = { "4 * j" } }),
    s.array("c", "u16", s.pitched { align = 32 },
      { at = { "i // 4", "j" }, extents = { "(i + 3) // 4", "j" } }),
  },
  outputs = { s.array("o", "u16", s.choose { s.row_major, s.col_major }) },
  body = "o = (unsigned short)(s2);",
  sizes = { { i = 384, j = 160 } },
}
