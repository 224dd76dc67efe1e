local s = require "sectile"
return s.kernel {
  name = "m_embed",
  dims = { "i", "c" },
  inputs = {
    s.array("id", "i64", nil, { dims = { "i" }, fill = "random", none = true }),
    s.array("x", "f32", nil, { dims = { "m", "c" }, at = { "id", "c" } }),
  },
  outputs = { s.array("y", "f32") },
  body = "y = id < 0 ? 0.0f : x;",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_i", "i64" }, { "n_c", "i64" }, { "n_m", "i64" }, "id", "x", "y" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 } },
    block = 128, grid = "(n_i + 3) // 4",
  },
  sizes = { { i = 1 << 14, c = 256, m = 50000 } },
}
