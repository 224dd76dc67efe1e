-- Dot products of a few short vectors.
local s = require "sectile"
return s.kernel {
  name    = "few_dots",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32"), s.array("b", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body    = "y = a * b;",
  sizes   = { { row = 30, col = 900 } },
}
