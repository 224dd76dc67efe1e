-- A permute of six short dimensions.
local s = require "sectile"
return s.kernel {
  name = "p320514",
  dims = { "i", "j", "k", "l", "m", "n" },
  inputs = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "j", "m", "i", "n", "l", "k" } }) },
  body = "b = a;",
  sizes = { { i=15, j=15, k=32, l=15, m=15, n=32 } },
}
