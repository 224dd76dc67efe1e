local s = require "sectile"
return s.kernel {
  name = "m_lastblock",
  dims = { "i" },
  inputs = { s.array("a", "i32") },
  outputs = { s.array("t", "i32", nil, { dims = {}, reduce = "sum" }) },
  body = "t = a;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "t" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
    block = 128, grid = "max(1, min((n_i + 511) // 512, 64))",
  },
  sizes = { { i = 1 << 22 } },
}
