local s = require "sectile"
return s.kernel {
  name = "m_tile",
  dims = { "r", "c" },
  inputs = {
    s.array("a", "i32"), s.array("x", "i32", nil, { dims = { "r" } }),
    s.array("y", "i32", nil, { dims = { "c" } }),
  },
  outputs = { s.array("b", "i32") },
  body = "b = a + 3 * x + 5 * y;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_r", "i64" }, { "n_c", "i64" }, "a", "x", "y", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 } },
    block = { 64, 4 }, grid = { "(n_c + 63) // 64", "(n_r + 31) // 32" },
    where = { "n_r <= 2000000" },
  },
  sizes = { { r = 4096, c = 4096 } },
}
