-- What is added to is loaded as it is stored, in vectors, or from a sector on; an input has a value
-- a column.
-- try: exchange threads=512 tile=64x64 blocks=out evict=loads
-- try: exchange threads=256 tile=64x64 blocks=out evict=none
local s = require "sectile"
return s.kernel {
  name    = "inout_columns",
  dims    = { "i", "j" },
  inputs  = {
    s.array("a", "f32", s.col_major), s.array("w", "f32", s.row_major, { dims = { "j" } }),
  },
  outputs = { s.array("o", "f32", s.row_major, { inout = true }) },
  body    = "o = fmaf(a, w, o);",
  sizes   = { { i = 1 << 12, j = 1024 } },
}
