-- Broadcasts along rows and columns; names that the kernel has for itself.
local s = require "sectile"
return s.kernel {
  name = "map_rows",
  dims = { "batch", "row", "col" },
  scalars = { { "place", "f32" } },
  inputs = {
    s.array("where", "f32"),
    s.array("w", "f32", s.row_major, { dims = { "col" } }),
    s.array("v", "f32", s.row_major, { dims = { "batch" } }),
    s.array("q", "f32", s.row_major, { dims = { "row" }, at = { "row" } }),
  },
  outputs = { s.array("b", "f32", s.pitched{ align = 64 }) },
  body = "b = (where + v) * w * place + q * (float)row;",
  tolerance = 1e-6,
  sizes = { { batch = 7, row = 39, col = 60 }, { batch = 3, row = 17, col = 57 } },
}
