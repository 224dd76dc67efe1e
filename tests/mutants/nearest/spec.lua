local s = require "sectile"
return s.kernel {
  name = "m_nearest",
  dims = { "p", "c" },
  inputs = {
    s.array("x", "i32", nil, { dims = { "p" } }), s.array("y", "i32", nil, { dims = { "c" } }),
  },
  outputs = { s.array("at", "i64", nil, { dims = { "p" }, reduce = "argmin" }) },
  body = "at = (x - y) & 255;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_p", "i64" }, { "n_c", "i64" }, "x", "y", "at" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 } },
    block = 64, grid = "(n_p + 63) // 64",
  },
  sizes = { { p = 1 << 16, c = 256 } },
}
