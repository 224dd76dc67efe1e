local s = require "sectile"
return s.kernel {
  name = "m_reduce",
  dims = { "r", "c" },
  inputs = { s.array("a", "f32") },
  outputs = {
    s.array("t", "f32", nil, { dims = { "r" }, reduce = "sum" }),
    s.array("m", "f32", nil, { dims = { "r" }, reduce = "min" }),
  },
  body = "t = a; m = a;",
  also = {
    cuda = "k.cu", kernel = "k", args = { "n_r", { "n_c", "i64" }, "a", "t", "m" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } },
    block = 256, grid = "n_r",
  },
  sizes = { { r = 4096, c = 4096 } },
}
