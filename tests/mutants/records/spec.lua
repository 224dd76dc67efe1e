local s = require "sectile"
return s.kernel {
  name = "m_records",
  dims = { "i" },
  inputs = { s.array("a", s.record { { "p", "f32", 3 }, { "id", "u16" }, { "f", "u8", 2 } }) },
  outputs = { s.array("b", s.record { { "q", "f32", 3 }, { "n", "i32" } }) },
  body = [[
    for (int d = 0; d < 3; d++) b.q[d] = a.p[d] * 2.0f;
    b.n = a.id * 4 + a.f[0] - a.f[1];
  ]],
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "a", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20 } },
}
