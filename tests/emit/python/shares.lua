local s = require "sectile"

return s.kernel {
  name = "shares", -- of rows; where a row is empty, the output has no elements either
  dims = { "row", "col" },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps = { { reduce = { all = "sum" }, body = "all = x;" }, { body = "y = x / all;" } },
  tolerance = 1e-5,
  sizes = { { row = 64, col = 64 } },
}
