-- A transpose of odd rows of doubles.
local s = require "sectile"
return s.kernel {
  name = "p2_f64_odd", dims = { "i", "j" },
  inputs  = { s.array("a", "f64") },
  outputs = { s.array("b", "f64", s.row_major, { dims = { "j", "i" } }) },
  body    = "b = a;",
  sizes   = { { i = 5001, j = 6007 } },
}
