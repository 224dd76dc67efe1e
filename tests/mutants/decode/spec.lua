local s = require "sectile"
return s.kernel {
  name = "m_decode",
  dims = { "i" },
  inputs = {
    s.array("a", "e4m3"), s.array("b", "e5m2"), s.array("c", "bf16"), s.array("d", "f16"),
  },
  outputs = {
    s.array("p", "f32"), s.array("q", "f32"), s.array("r", "f32"), s.array("t", "f32"),
  },
  body = "p = a; q = b; r = c; t = d;",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_i", "i64" }, "a", "b", "c", "d", "p", "q", "r", "t" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20 } },
}
