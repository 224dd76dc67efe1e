-- Rows made even by their own statistics: a negative variance in random data makes NaN.
local s = require "sectile"
local st = s.record { { "sum", "f32" }, { "sq", "f32" }, name = "row_stats" }
return s.kernel {
  name = "ln_apply",
  dims = { "row", "col" },
  scalars = { { "eps", "f32" }, { "inv_n", "f32" } },
  inputs = {
    s.array("x", "f32"),
    s.array("st", st, s.aos, { dims = { "row" } }),
    s.array("gamma", "f32", s.row_major, { dims = { "col" } }),
    s.array("beta", "f32", s.row_major, { dims = { "col" } }),
  },
  outputs = { s.array("y", "f32") },
  body = [[
    float m = st.sum * inv_n;
    float var = st.sq * inv_n - m * m;
    y = (x - m) * rsqrtf(var + eps) * gamma + beta;
  ]],
  tolerance = 1e-4,
  sizes = { { row = 16384, col = 8192 } },
}
