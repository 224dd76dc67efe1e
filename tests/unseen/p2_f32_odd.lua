-- A transpose of odd rows.
local s = require "sectile"
return s.kernel {
  name = "p2_f32_odd", dims = { "i", "j" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "j", "i" } }) },
  body    = "b = a;",
  sizes   = { { i = 6000, j = 10007 } },
}
