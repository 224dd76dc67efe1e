local s = require "sectile"
return s.kernel {
  name = "m_limits",
  dims = { "i" },
  scalars = { { "lo", "f32" }, { "hi", "f32" }, { "n_bits", "i32" }, { "ref", "f32" } },
  inputs = { s.array("a", "f32"), s.array("u", "u32") },
  outputs = { s.array("b", "f32"), s.array("v", "u32"), s.array("f", "bool") },
  body = [[
    b = a < lo ? lo : a > hi ? hi : a;
    v = u >> (n_bits & 31);
    f = a >= ref && u >= 10u || u == 77u;
  ]],
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_i", "i64" }, "lo", "hi", "n_bits", "ref", "a", "u", "b", "v", "f" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20 } },
}
