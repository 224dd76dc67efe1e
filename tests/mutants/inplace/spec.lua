local s = require "sectile"
return s.kernel {
  name = "m_inplace",
  dims = { "r", "c" },
  scalars = { { "rate", "f32" }, { "step", "i32" } },
  inputs = { s.array("g", "f32") },
  outputs = {
    s.array("w", "f32", nil, { inout = true }), s.array("m", "f32", nil, { inout = true }),
  },
  body = [[
    if (g == 0.0f) { keep(w); keep(m); }
    else { m = 0.5f * m + g; w = step > 100 ? w - rate * m : w; }
  ]],
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_r * n_c", "i64" }, "rate", "step", "g", "w", "m" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } },
    block = 128, grid = "(n_r * n_c + 127) // 128",
    where = { "n_r * n_c < 2147483648" },
  },
  tolerance = 1e-6,
  sizes = { { r = 4096, c = 4096 } },
}
