local s = require "sectile"
return s.kernel {
  name = "m_quant",
  dims = { "i" },
  scalars = { { "g", "f32" }, { "z", "i32" } },
  inputs = { s.array("a", "f32") },
  outputs = { s.array("q", "i8"), s.array("u", "u8") },
  body = [[
    float v = rintf(a * g);
    q = (signed char)fminf(fmaxf(v, -128.0f), 127.0f);
    u = (unsigned char)fminf(fmaxf(v + (float)z, 0.0f), 255.0f);
  ]],
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, "g", "z", "a", "q", "u" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20 } },
}
