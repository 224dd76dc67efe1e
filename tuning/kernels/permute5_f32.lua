-- Permute a rank 5 array of f32 with extents from 3 to 300.
--
-- Short dimensions are fast on one side or the other: a tile of two dimensions alone would move a
-- few elements at a time, so tiles cover several.
local s = require "sectile"

return s.kernel {
  name    = "permute5_f32",
  dims    = { "i", "j", "k", "l", "m" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "m", "k", "i", "l", "j" } }) },
  body    = "b = a;",
  sizes   = {
    { i = 32, j = 7, k = 300, l = 16, m = 125 },
    { i = 300, j = 29, k = 3, l = 257, m = 20 },
  },
}
