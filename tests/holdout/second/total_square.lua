-- The sum of all squares.
local s = require "sectile"
return s.kernel {
  name    = "total_square",
  dims    = { "i" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("y", "f64", s.row_major, { dims = {}, reduce = "sum" }) },
  body    = "y = (double)a * a;",
  sizes   = { { i = 90000000 } },
}
