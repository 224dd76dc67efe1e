-- Permute a rank 6 array of f32 with extents from 2 to 300.
--
-- In the second size the outputs' fastest dimension has four elements: runs of whole sectors need
-- the dimensions behind it too.
local s = require "sectile"

return s.kernel {
  name    = "permute6_f32",
  dims    = { "i", "j", "k", "l", "m", "n" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "k", "n", "i", "m", "j", "l" } }) },
  body    = "b = a;",
  sizes   = {
    { i = 6, j = 25, k = 2, l = 300, m = 8, n = 187 },
    { i = 40, j = 5, k = 90, l = 4, m = 24, n = 78 },
  },
}
