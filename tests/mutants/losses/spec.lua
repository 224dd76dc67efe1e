local s = require "sectile"
return s.kernel {
  name = "m_losses",
  dims = { "r", "c" },
  inputs = { s.array("x", "f32"), s.array("w", "f32", nil, { dims = { "r" } }) },
  outputs = {
    s.array("top", "f32", nil, { dims = { "r" } }), s.array("t", "f32", nil, { dims = {} }),
  },
  steps = {
    { reduce = { m = "max" }, over = "c", body = "m = x;" },
    { body = "top = m;" },
    { reduce = { a = "mean" }, over = "r", body = "a = m * w;" },
    { body = "t = a;" },
  },
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_r", "i64" }, { "n_c", "i64" }, "x", "w", "top", "t" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
    block = 256, grid = 1,
  },
  sizes = { { r = 2000, c = 1024 } },
}
