-- Six dimensions in another order.
local s = require "sectile"
return s.kernel {
  name = "p6_f32_235014", dims = { "i", "j", "k", "l", "m", "n" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "k", "l", "n", "i", "j", "m" } }) },
  body    = "b = a;",
  sizes   = { { i = 21, j = 8, k = 30, l = 16, m = 27, n = 31 } },
}
