local s = require "sectile"
return s.kernel {
  name = "m_extremes",
  dims = { "i" },
  inputs = {
    s.array("key", "i32", nil, { fill = "random" }), s.array("a", "i32"), s.array("v", "f32"),
  },
  outputs = {
    s.array("m", "i32", nil, { dims = { "n" }, at = { "key" }, accumulate = "max", inout = true }),
    s.array("f", "f32", nil, { dims = { "n" }, at = { "key" }, accumulate = "max", inout = true }),
    s.array("o", "u32", nil, { dims = { "n" }, at = { "key" }, accumulate = "or" }),
  },
  body = "m = a; f = v; o = 1u << (a & 31);",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "key", "a", "v", "m", "f", "o" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
    block = 64, grid = "(n_i + 63) // 64",
  },
  sizes = { { i = 1 << 20, n = 1000 } },
}
