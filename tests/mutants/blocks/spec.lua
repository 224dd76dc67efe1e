local s = require "sectile"
return s.kernel {
  name = "m_blocks",
  dims = { "i" },
  inputs = { s.array("a", "i32"), s.array("c", "i32") },
  outputs = { s.array("b", "i32") },
  body = "b = a + 7 * c;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "c", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
    block = 64, grid = "min(n_i, 32)",
  },
  sizes = { { i = 1 << 24 } },
}
