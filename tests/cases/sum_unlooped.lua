-- Sums over two dimensions, of an input that has only the inner one: its loads are the same in each
-- iteration of the outer loop, and still may not leave their condition.
local s = require "sectile"
return s.kernel {
  name = "sum_unlooped",
  dims = { "i", "j", "k" },
  inputs = {
    s.array("a", "i32"),
    s.array("b", "i32", s.strided { 1, "i + 8" }, { dims = { "i", "k" } }),
  },
  outputs = { s.array("o", "i32", s.row_major, { dims = { "i" }, reduce = "sum" }) },
  body = "o = a ^ b;",
  sizes = { { i = 27, j = 74, k = 64 } },
}
