local s = require "sectile"

local pair = s.record { { "x", "f32" }, { "q", "u16", 2 }, name = "pair" }

return s.kernel {
  name = "swapped",
  dims = { "row", "col" },
  inputs = { s.array("a", pair, s.choose { s.soa }),
    s.array("w", "f32", s.row_major, { dims = { "col" } }) },
  outputs = { s.array("b", pair), s.array("c", "f32", s.strided { 1, "row + 3" }) },
  body = "b.x = a.x; b.q[0] = a.q[1]; b.q[1] = a.q[0]; c = w;",
  sizes = { { row = 64, col = 64 } },
}
