local s = require "sectile"
return s.kernel {
  name = "m_stencil",
  dims = { "y", "x" },
  inputs = {
    s.array("a", "i32", nil, {
      taps = { n = { -1, 0 }, o = { 1, 0 }, w = { 0, -1 }, e = { 0, 1 }, d = { 1, 2 } },
      border = "clamp",
    }),
  },
  outputs = { s.array("b", "i32") },
  body = "b = a + 2 * n + 3 * o + 5 * w + 7 * e + 11 * d;",
  also = {
    cuda = "k.cu", kernel = "k", args = { "n_y", "n_x", "a", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
    block = { 32, 4 }, grid = { "(n_x + 31) // 32", "(n_y + 15) // 16" },
    where = { "n_x * n_y < 2147483648", "n_y < 1000000" },
  },
  sizes = { { y = 4096, x = 4096 } },
}
