local s = require "sectile"
return s.kernel {
  name = "m_stages",
  dims = { "r", "c" },
  inputs = { s.array("a", "i32") },
  outputs = { s.array("b", "i32") },
  body = "b = a + 1;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_r", "i64" }, { "n_c", "i64" }, "a", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
    block = 64, grid = "n_r",
  },
  sizes = { { r = 1024, c = 4096 } },
}
