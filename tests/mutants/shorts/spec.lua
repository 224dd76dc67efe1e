local s = require "sectile"
return s.kernel {
  name = "m_shorts",
  dims = { "i" },
  inputs = { s.array("a", "u16") },
  outputs = { s.array("b", "u16") },
  body = "b = a ^ 0x8000;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } },
    block = 128, grid = "(n_i + 1023) // 1024",
  },
  sizes = { { i = 1 << 22 } },
}
