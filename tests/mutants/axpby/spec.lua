local s = require "sectile"
return s.kernel {
  name = "m_axpby",
  dims = { "i" },
  scalars = { { "p", "f32" }, { "q", "f32" }, { "s", "i32" }, { "w", "i64" } },
  inputs = { s.array("x", "f32"), s.array("u", "i32") },
  outputs = { s.array("y", "f32", nil, { inout = true }), s.array("v", "i64") },
  body = "y = fmaf(p, x, q * y); v = (long long)u * w + (s < 0 ? u : u * s);",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_i", "i64" }, "p", "q", "s", "w", "x", "u", "y", "v" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20 } },
}
