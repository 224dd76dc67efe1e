local s = require "sectile"
return s.kernel {
  name = "m_norm",
  dims = { "r", "c" },
  inputs = {
    s.array("x", "f32"), s.array("w", "f32", nil, { dims = { "c" } }),
  },
  outputs = { s.array("y", "f32") },
  steps = {
    { reduce = { q = "sum" }, body = "q = x * x;" },
    { row = { f = "f32" }, body = "f = 1.0f / sqrtf(q / (float)n_c + 1e-5f);" },
    { body = "y = x * f * w;" },
  },
  tolerance = 1e-4,
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_r", "i64" }, { "n_c", "i64" }, "x", "w", "y" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 } },
    block = { 32, 4 }, grid = "(n_r + 3) // 4",
  },
  sizes = { { r = 4096, c = 1024 } },
}
