-- Permute a rank 3 array of f32: the dimensions in reverse order.
--
-- The slowest dimension becomes the fastest, so a tile's rows lie whole planes apart on both sides.
local s = require "sectile"

return s.kernel {
  name    = "permute_210_f32",
  dims    = { "i", "j", "k" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "k", "j", "i" } }) },
  body    = "b = a;",
  sizes   = {
    { i = 512, j = 512, k = 512 },
    { i = 509, j = 517, k = 511 },
  },
}
