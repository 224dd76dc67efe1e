local s = require "sectile"

local pair = s.record { { "x", "f32" }, { "n", "u16" }, name = "pair" }

return s.kernel {
  name = "turned",
  dims = { "row", "col" },
  inputs = { s.array("a", pair) },
  outputs = { s.array("b", pair, s.col_major), s.array("c", "f16") },
  scalars = { { "k", "f32" } },
  body = "b.x = a.x * k; b.n = a.n; c = a.x;",
  sizes = { { row = 64, col = 64 } },
}
