-- Blocks of 4-bit weights, gathered.
local s = require "sectile"
local block = s.record { { "d", "f16" }, { "q", "i4", 24 } }
return s.kernel {
  name = "block_gather",
  dims = { "i" },
  inputs = {
    s.array("pick", "i32", s.row_major, { fill = "permuted" }),
    s.array("t", block, s.aos, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = { s.array("o", "f32", s.row_major) },
  body = "int n = 0; for (int k = 0; k < 24; k += 2) n += t.q[k] * t.q[k + 1]; o = n * (float)t.d;",
  sizes = { { i = 5000, m = 5000 } },
}
