local s = require "sectile"
return s.kernel {
  name = "m_softmax",
  dims = { "r", "c" },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { body = "y = expf(x - m) / t;" },
  },
  tolerance = 1e-4,
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_r", "i64" }, { "n_c", "i64" }, "x", "y" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
    block = 128, grid = "n_r",
  },
  sizes = { { r = 4096, c = 1024 } },
}
