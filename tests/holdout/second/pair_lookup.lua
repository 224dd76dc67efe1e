-- Pairs of doubles, picked at random.
local s = require "sectile"
return s.kernel {
  name    = "pair_lookup",
  dims    = { "i" },
  inputs  = {
    s.array("pick", "i32", s.row_major, { fill = "random" }),
    s.array("v", "f64x2", s.row_major, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = { s.array("y", "f64") },
  body    = "y = v.x + v.y;",
  sizes   = { { i = 12000000, m = 1500000 } },
}
