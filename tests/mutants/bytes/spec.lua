local s = require "sectile"
return s.kernel {
  name = "m_bytes",
  dims = { "i" },
  inputs = { s.array("a", "u8"), s.array("m", "u8") },
  outputs = { s.array("b", "u8") },
  body = "b = a & m;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "m", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
    block = 64, grid = "(n_i + 1023) // 1024 + 1",
  },
  sizes = { { i = 1 << 24 } },
}
