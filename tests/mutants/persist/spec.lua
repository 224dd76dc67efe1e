local s = require "sectile"
return s.kernel {
  name = "m_persist",
  dims = { "r", "c" },
  inputs = { s.array("a", "i32"), s.array("w", "i32", nil, { dims = { "r" } }) },
  outputs = {
    s.array("b", "i32", nil, { dims = { "c", "r" } }),
  },
  body = "b = a + w;",
  also = {
    cuda = "k.cu", kernel = "k", args = { "n_r", "n_c", "a", "w", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
    block = { 16, 16 }, grid = "min((n_c + 15) // 16 * ((n_r + 15) // 16), 24)",
    where = { "n_r * n_c < 2147483648", "n_r < 1000000", "n_c < 1000000" },
  },
  sizes = { { r = 4096, c = 4096 } },
}
