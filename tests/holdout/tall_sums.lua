-- Sums down the columns of a tall, narrow matrix of half floats.
local s = require "sectile"
return s.kernel {
  name    = "tall_sums",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f16") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "col" }, reduce = "sum" }) },
  body    = "y = a;",
  sizes   = { { row = 3000000, col = 24 } },
}
