-- Running products of each row of a matrix: o[row][col] = a[row][0] * ... * a[row][col].
local s = require "sectile"

return s.kernel {
  name    = "running_product",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("o", "f32", s.row_major, { scan = "product" }) },
  body    = "o = a;",
  sizes   = { { row = 16384, col = 4096 }, { row = 1024, col = 65536 } },
}
