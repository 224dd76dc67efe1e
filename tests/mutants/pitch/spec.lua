local s = require "sectile"
return s.kernel {
  name = "m_pitch",
  dims = { "r", "c" },
  inputs = { s.array("a", "f32"), s.array("w", "f32", nil, { dims = { "c" } }) },
  outputs = { s.array("b", "f32") },
  body = "b = a * w;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_r", "i64" }, { "n_c", "i64" }, "a", "w", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
    block = 128, grid = { "n_r", "(n_c + 511) // 512" },
    where = { "n_c <= 33000000" },
  },
  sizes = { { r = 4096, c = 4096 } },
}
