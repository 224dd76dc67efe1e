-- Records whose fields accumulate apart, gathered by fields of other records, in a strided layout.
local s = require "sectile"
local seen = s.record { { "low", "i32" }, { "n", "i64" }, name = "seen" }
local point = s.record { { "v", "i32" }, { "unused", "f64" }, { "w", "i64" }, name = "point" }
return s.kernel {
  name    = "accumulate_records",
  dims    = { "i" },
  inputs  = { s.array("key", "u16"), s.array("p", point) },
  outputs = {
    s.array("best", seen, s.choose { s.aos, s.soa },
      { dims = { "m" }, at = { "2 * key + 1" }, accumulate = "min", inout = true }),
  },
  body    = "best.low = p.v; best.n = p.w;",
  sizes   = { { i = 10007, m = 90 } },
}
