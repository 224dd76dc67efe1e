-- Rows of blocks of 4-bit weights, scaled by the largest of a row.
local s = require "sectile"
local block = s.record { { "q", "i4", 8 }, { "d", "f32" } }
return s.kernel {
  name = "block_steps",
  dims = { "row", "block" },
  inputs = { s.array("w", block, s.choose { s.aos, s.soa }) },
  outputs = {
    s.array("o", s.record { { "x", "i8", 8 } }),
    s.array("top", "f32", s.row_major, { dims = { "row" } }),
  },
  steps = {
    { reduce = { most = "max" }, body = [[
        int t = 0;
        for (int n = 0; n < 8; n++) t = max(t, abs(w.q[n]));
        most = t * fabsf(w.d);
      ]] },
    { row = { r = "f32" }, body = "top = most; r = most > 0.0f ? 100.0f / most : 0.0f;" },
    { body = [[
        for (int n = 0; n < 8; n++) {
          const float x = w.q[n] * w.d * r;
          o.x[n] = (int)fminf(fmaxf(x, -127.0f), 127.0f);
        }
      ]] },
  },
  sizes = { { row = 20, block = 99 }, { row = 9, block = 256 } },
}
