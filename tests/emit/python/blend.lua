local s = require "sectile"

return s.kernel {
  name = "blend",
  dims = { "row", "col" },
  inputs = {
    s.array("a", "f32"),
    s.array("from", "bf16", s.row_major, { dims = { "col" } }), -- a word of Python
  },
  outputs = { s.array("c", "f32", s.strided { 1, "row + 3" }) },
  scalars = { { "k", "bf16" }, { "v", "f64x2" }, { "n", "u8" } },
  body = "c = a * (float)k + (float)from + (float)(v.x + v.y) + (float)n;",
  sizes = { { row = 64, col = 64 } },
}
