-- Arrays of every kind that chunks of rows know: cut (a), needed whole (w), updated in place (b),
-- and with bytes between its fields that stay as they are (c).
local s = require "sectile"
local pair = s.record { { "x", "f32" }, { "n", "u8" }, name = "pair" }
return s.kernel {
  host = true,
  name = "mixed", dims = { "row", "col" },
  scalars = { { "k", "f32" } },
  inputs = { s.array("a", "f32"), s.array("w", "f32", s.row_major, { dims = { "col" } }) },
  outputs = {
    s.array("b", "f32", s.row_major, { inout = true }),
    s.array("c", pair, s.aos),
  },
  body = "b = b + a * w; c.x = k * a; c.n = 7;",
  sizes = { { row = 300, col = 40 } },
}
