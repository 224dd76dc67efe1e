local s = require "sectile"
return s.kernel {
  name = "m_batch",
  dims = { "g", "r", "c" },
  inputs = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", nil, { dims = { "g", "c", "r" } }) },
  body = "b = a;",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_g", "i64" }, { "n_r", "i64" }, { "n_c", "i64" }, "a", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
    block = { 16, 16 },
    grid = { "(n_c + 15) // 16", "(n_r + 15) // 16", "min(n_g, 4)" },
    where = { "n_r <= 1000000" },
  },
  sizes = { { g = 64, r = 512, c = 512 } },
}
