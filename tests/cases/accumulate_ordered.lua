-- Floats in one order: records whose fields lie apart or together, of one row each, in part; rows
-- that have no points.
local s = require "sectile"
local sums = s.record { { "a", "f32" }, { "n", "i32" }, { "b", "f64" }, name = "sums" }
return s.kernel {
  name    = "accumulate_ordered",
  dims    = { "i", "c" },
  inputs  = { s.array("key", "u8", s.row_major, { dims = { "i" } }), s.array("x", "f32") },
  outputs = {
    s.array("total", sums, s.choose { s.aos, s.soa },
      { dims = { "c", "m" }, at = { "c", "key" }, accumulate = "add", deterministic = true,
        pad = { 2, 0 } }),
  },
  body    = "total.a = x; total.n = c; total.b = x * 2.0; if (x > 1.75f) keep(total);",
  sizes   = { { i = 1000, c = 7, m = 40 } },
}
