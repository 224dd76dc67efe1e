local s = require "sectile"
return s.kernel {
  name = "transpose", dims = { "row", "col" },
  inputs = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.col_major) },
  body = "b = a;",
  sizes = { { row = 4096, col = 4096 } },
}
