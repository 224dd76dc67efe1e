-- Records with arrays of elements that share bytes, in each layout: constant and computed indices,
-- one within another, some elements never read.
local s = require "sectile"
local block = s.record {
  { "d", "f16" }, { "q", "i4", 10 }, { "n", "u8" }, { "u", "u4", 6 }, { "m", "u1", 24 },
}
return s.kernel {
  name = "block_bits",
  dims = { "row", "col" },
  inputs = {
    s.array("a", block, s.choose { s.aos, s.soa, s.aosoa { lanes = { 8 } } }),
    s.array("b", s.record { { "k", "u1", 8 }, { "e", "u4", 2 }, packed = true }, s.aos,
      { dims = { "col" } }),
  },
  outputs = {
    s.array("o", s.record { { "x", "f32", 8 }, { "n", "i32" } }, s.choose { s.aos, s.soa }),
    s.array("w", "f16"),
  },
  body = [[
    int n = 0;
    for (int c = 0; c < 8; c++) {
      o.x[c] = a.m[3 * c] ? a.q[c + 1] * (float)a.d : -1.0f;
      n += b.k[c] << a.u[c % 6];
    }
    o.n = n + a.q[a.u[0] % 10] * 1000 + a.n;
    w = a.q[(row + col) % 10] + (b.e[1] - b.e[0]) / 4.0f;
  ]],
  sizes = { { row = 70, col = 33 }, { row = 64, col = 64 } },
}
