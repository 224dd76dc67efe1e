-- Sums of squares over the middle of three dimensions.
local s = require "sectile"
return s.kernel {
  name    = "middle_norms",
  dims    = { "n", "c", "x" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "n", "x" }, reduce = "sum" }) },
  body    = "y = a * a;",
  sizes   = { { n = 64, c = 384, x = 3136 } },
}
