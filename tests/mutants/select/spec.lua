local s = require "sectile"
return s.kernel {
  name = "m_select",
  dims = { "i" },
  inputs = { s.array("a", "f32"), s.array("b", "f32") },
  outputs = {
    s.array("m", "f32"), s.array("r", "f32"), s.array("g", "i32"), s.array("t", "f32"),
  },
  body = [[
    m = a > b ? a : b;
    r = a > 0.0f ? a : 0.1f * a;
    g = (a < b) - (a > b);
    t = fabsf(a) <= 6.0f ? a * a : 12.0f * fabsf(a);
  ]],
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "b", "m", "r", "g", "t" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20 } },
}
