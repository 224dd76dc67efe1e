local s = require "sectile"
return s.kernel {
  name = "m_gridloop",
  dims = { "i" },
  inputs = { s.array("a", "i32"), s.array("w", "i32", nil, { dims = { "one" }, at = { "0" } }) },
  outputs = { s.array("b", "i32") },
  body = "b = a * 3 + w;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "w", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } },
    block = 128, grid = "min((n_i + 511) // 512, 264)",
  },
  sizes = { { i = 1 << 24, one = 1 } },
}
