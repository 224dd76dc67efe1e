local s = require "sectile"
return s.kernel {
  name = "m_argmax",
  dims = { "r", "c" },
  inputs = { s.array("a", "f32") },
  outputs = {
    s.array("at", "i32", nil, { dims = { "r" }, reduce = "argmax" }),
    s.array("top", "f32", nil, { dims = { "r" }, reduce = "max" }),
  },
  body = "at = a; top = a;",
  also = {
    cuda = "k.cu", kernel = "k", args = { "n_r", { "n_c", "i64" }, "a", "at", "top" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } },
    block = 128, grid = "n_r", where = { "n_c < 2147483648" },
  },
  sizes = { { r = 4096, c = 1024 } },
}
