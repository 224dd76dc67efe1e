-- Permute a rank 3 array of f32: the first two dimensions change places.
--
-- Rows along k stay as they are and only move; the odd size makes them start off a sector.
local s = require "sectile"

return s.kernel {
  name    = "permute_102_f32",
  dims    = { "i", "j", "k" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "j", "i", "k" } }) },
  body    = "b = a;",
  sizes   = {
    { i = 512, j = 512, k = 512 },
    { i = 501, j = 900, k = 299 },
  },
}
