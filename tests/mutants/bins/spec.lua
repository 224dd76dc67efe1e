local s = require "sectile"
return s.kernel {
  name = "m_bins",
  dims = { "i" },
  inputs = { s.array("key", "i32", nil, { fill = "random" }) },
  outputs = { s.array("h", "u32", nil, { dims = { "m" }, at = { "key" }, accumulate = "add" }) },
  body = "h = 1;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, { "n_m", "i64" }, "key", "h" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
    block = 256, grid = "(n_i + 2047) // 2048",
  },
  sizes = { { i = 1 << 22, m = 4096 } },
}
