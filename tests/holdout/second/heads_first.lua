-- Heads before tokens: a permutation of four dimensions, halves.
local s = require "sectile"
return s.kernel {
  name    = "heads_first",
  dims    = { "n", "head", "token", "x" },
  inputs  = { s.array("a", "u16", s.row_major, { dims = { "n", "token", "head", "x" } }) },
  outputs = { s.array("b", "u16") },
  body    = "b = a;",
  sizes   = { { n = 16, head = 24, token = 1024, x = 80 } },
}
