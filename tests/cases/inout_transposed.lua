-- An input that runs the other way is added in place, and an output keeps elements.
-- try: exchange threads=256 tile=32x64 load=4 start=sector blocks=out evict=none
local s = require "sectile"
return s.kernel {
  name    = "inout_transposed",
  dims    = { "i", "j" },
  inputs  = { s.array("a", "f32", s.col_major) },
  outputs = { s.array("o", "f32", s.row_major, { inout = true }), s.array("p", "f32") },
  body    = "o += a; if (a < 1.5f) p = a; else keep(p);",
  sizes   = { { i = 1 << 12, j = 1001 } },
}
