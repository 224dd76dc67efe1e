-- The least and the greatest float of each key, of both signs, onto what arrays hold and in parts.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_extremes",
  dims    = { "i" },
  inputs  = {
    s.array("key", "u16", s.row_major, { fill = "random" }), s.array("x", "f32"),
    s.array("y", "f64"),
  },
  outputs = {
    s.array("most", "f32", s.row_major,
      { dims = { "m" }, at = { "key" }, accumulate = "max", inout = true }),
    s.array("least", s.record { { "x", "f32" }, { "y", "f64" } }, s.soa,
      { dims = { "m" }, at = { "key" }, accumulate = "min", inout = true }),
  },
  body    = "float d = x - 1.5f; most = d; if (d > 0.4f) keep(least); "
    .. "else { least.x = d; least.y = y - 1.5; }",
  sizes   = { { i = 20011, m = 333 }, { i = 5000, m = 40000 } },
}
