local s = require "sectile"
return s.kernel {
  name = "m_scatter",
  dims = { "i" },
  inputs = {
    s.array("key", "i32", nil, { fill = "random", none = true }), s.array("w", "i32"),
  },
  outputs = { s.array("h", "i32", nil, { dims = { "m" }, at = { "key" }, accumulate = "add" }) },
  body = "if (key < 0) keep(h); else h = w;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, { "n_m", "i64" }, "key", "w", "h" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20, m = 1000 } },
}
