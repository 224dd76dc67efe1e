-- Pairs of f16 that change places with modes of 4 and 32 between them.
local s = require "sectile"
return s.kernel {
  name = "p6_f16_304215", dims = { "i", "j", "k", "l", "m", "n" },
  inputs  = { s.array("a", "f16", s.row_major, { dims = { "l", "i", "m", "k", "j", "n" } }) },
  outputs = { s.array("b", "f16") },
  body    = "b = a;",
  sizes   = { { i = 24, j = 255, k = 48, l = 32, m = 4, n = 2 } },
}
