local s = require "sectile"
return s.kernel {
  name = "m_wrap",
  dims = { "z", "y", "x" },
  inputs = {
    s.array("a", "f32", nil, {
      taps = {
        u = { -1, 0, 0 }, d = { 1, 0, 0 }, n = { 0, -2, 0 }, w = { 0, 0, -1 }, e = { 0, 0, 1 },
      },
      border = "wrap",
    }),
    s.array("c", "f32", nil, { taps = { l = { 0, 0, -3 } }, border = "zero" }),
  },
  outputs = { s.array("b", "f32") },
  body = "b = u + d; b = b + n; b = b + w; b = b + e; b = b + l;",
  also = {
    cuda = "k.cu", kernel = "k", args = { "n_z", "n_y", "n_x", "a", "c", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
    block = { 32, 2, 2 },
    grid = { "(n_x + 31) // 32", "(n_y + 1) // 2", "(n_z + 1) // 2" },
    where = { "n_x * n_y * n_z < 2147483648", "n_y < 100000", "n_z < 100000" },
  },
  sizes = { { z = 256, y = 256, x = 256 } },
}
