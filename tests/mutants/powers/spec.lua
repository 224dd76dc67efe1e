local s = require "sectile"
return s.kernel {
  name = "m_powers",
  dims = { "i" },
  inputs = { s.array("a", "i32") },
  outputs = { s.array("b", "i32") },
  body = "b = a ^ (int)i;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
    block = 256, grid = "(n_i + 1023) // 1024",
  },
  sizes = { { i = 1 << 22 } },
}
