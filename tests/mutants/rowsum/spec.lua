local s = require "sectile"
return s.kernel {
  name = "m_rowsum",
  dims = { "r", "c" },
  inputs = { s.array("a", "i32") },
  outputs = { s.array("t", "i32", nil, { dims = { "r" }, reduce = "sum" }) },
  body = "t = a;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_r", "i64" }, { "n_c", "i64" }, "a", "t" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
    block = 256, grid = "(n_r + 3) // 4",
  },
  sizes = { { r = 4096, c = 8192 } },
}
