local s = require "sectile"
return s.kernel {
  name = "m_round",
  dims = { "i" },
  inputs = { s.array("a", "f32") },
  outputs = { s.array("b", "bf16"), s.array("h", "f16"), s.array("e", "e5m2") },
  body = "b = a; h = a; e = a;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "b", "h", "e" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20 } },
}
