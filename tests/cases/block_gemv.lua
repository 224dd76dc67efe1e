-- A product of a vector and a matrix in blocks of 4-bit weights, as llama.cpp's Q4_0 has them.
local s = require "sectile"
local block = s.record { { "d", "f16" }, { "qs", "u4", 32 }, name = "block_q4_0" }
return s.kernel {
  name = "block_gemv",
  dims = { "row", "block" },
  inputs = {
    s.array("w", block, s.choose { s.aos, s.soa }),
    s.array("x", s.record { { "v", "f32", 32 } }, s.aos, { dims = { "block" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body = [[
    float t = 0.0f;
    for (int n = 0; n < 16; n++) {
      t = fmaf(w.qs[2 * n] - 8, x.v[n], t);
      t = fmaf(w.qs[2 * n + 1] - 8, x.v[n + 16], t);
    }
    y = t * (float)w.d;
  ]],
  sizes = { { row = 33, block = 128 }, { row = 100, block = 17 } },
}
