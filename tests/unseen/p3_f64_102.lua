-- Rows stay rows.
local s = require "sectile"
return s.kernel {
  name = "p3_f64_102", dims = { "i", "j", "k" },
  inputs  = { s.array("a", "f64") },
  outputs = { s.array("b", "f64", s.row_major, { dims = { "j", "i", "k" } }) },
  body    = "b = a;",
  sizes   = { { i = 700, j = 900, k = 45 } },
}
