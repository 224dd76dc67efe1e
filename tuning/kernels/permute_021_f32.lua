-- Permute a rank 3 array of f32: the last two dimensions change places.
--
-- A batch of 2-D transposes; the odd size makes every row start off a sector.
local s = require "sectile"

return s.kernel {
  name    = "permute_021_f32",
  dims    = { "i", "j", "k" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "i", "k", "j" } }) },
  body    = "b = a;",
  sizes   = {
    { i = 512, j = 512, k = 512 },
    { i = 511, j = 513, k = 509 },
  },
}
