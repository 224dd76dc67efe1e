-- A product of two vectors, added to a matrix.
local s = require "sectile"
return s.kernel {
  name    = "outer_blend",
  dims    = { "row", "col" },
  inputs  = {
    s.array("u", "f32", s.row_major, { dims = { "row" } }),
    s.array("v", "f32", s.row_major, { dims = { "col" } }),
  },
  outputs = { s.array("a", "f32", s.row_major, { inout = true }) },
  body    = "a = a + u * v;",
  sizes   = { { row = 9000, col = 6001 } },
  tolerance = 1e-4,
}
