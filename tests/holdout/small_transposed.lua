-- A matrix of 100 x 130 transposed.
local s = require "sectile"
return s.kernel {
  name    = "small_transposed",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32", s.col_major) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { row = 100, col = 130 } },
}
