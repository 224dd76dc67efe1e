local s = require "sectile"
return s.kernel {
  name = "m_peel",
  dims = { "i" },
  inputs = { s.array("a", "f32") },
  outputs = { s.array("b", "f32") },
  body = "b = 2.0f * a;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } },
    block = 256, grid = "(n_i + 1023) // 1024",
  },
  sizes = { { i = 1 << 22 } },
}
