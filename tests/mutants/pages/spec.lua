local s = require "sectile"
return s.kernel {
  name = "m_pages",
  dims = { "i", "c" },
  inputs = {
    s.array("seq", "i32", nil, { dims = { "i" }, fill = "random" }),
    s.array("page", "i32", nil, { dims = { "n", "p" }, at = { "seq", "i // 16" }, fill = "random",
                                  extents = { "n", "(i + 15) // 16" } }),
    s.array("x", "f32", nil, { dims = { "m", "q", "c" }, at = { "page", "i % 16", "c" },
                               extents = { "m", "16", "c" } }),
  },
  outputs = { s.array("y", "f32") },
  body = "y = x;",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_i", "i64" }, { "n_c", "i64" }, { "n_m", "i64" }, "seq", "page", "x", "y" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
    block = 64, grid = "n_i",
  },
  sizes = { { i = 1 << 12, c = 256, n = 64, m = 1000 } },
}
