-- Where all dimensions grow the grid of the naive variant stays as it is, where one does it grows:
-- a block never goes on to other outputs.
local s = require "sectile"
return s.kernel {
  name = "reduce_first_dims",
  dims = { "i", "j", "k" },
  inputs = { s.array("a", "i8", s.row_major) },
  outputs = { s.array("w", "i64", s.row_major, { dims = { "k" }, reduce = "max" }) },
  body = "w = 3 * a - i;",
  sizes = { { i = 21, j = 234, k = 39 } },
}
