local s = require "sectile"
return s.kernel {
  name = "m_running",
  dims = { "r", "c" },
  inputs = { s.array("a", "i32") },
  outputs = {
    s.array("b", "i32", nil, { scan = "sum" }),
    s.array("m", "i32", nil, { scan = "max", exclusive = true }),
  },
  body = "b = a; m = a;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_r", "i64" }, { "n_c", "i64" }, "a", "b", "m" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
    block = 128, grid = "n_r",
  },
  sizes = { { r = 1024, c = 8192 } },
}
