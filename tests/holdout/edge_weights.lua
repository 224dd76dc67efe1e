-- Weights of edges, divided by the degrees of both ends.
local s = require "sectile"
return s.kernel {
  name    = "edge_weights",
  dims    = { "e" },
  inputs  = {
    s.array("from", "i32", s.row_major, { fill = "random" }),
    s.array("to", "i32", s.row_major, { fill = "random" }),
    s.array("w", "f32"),
    s.array("d", "f32", s.row_major, { dims = { "n" }, at = { "from" } }),
    s.array("g", "f32", s.row_major, { dims = { "n" }, at = { "to" } }),
  },
  outputs = { s.array("o", "f32") },
  body    = "o = w * rsqrtf(fabsf(d) + 1.0f) * rsqrtf(fabsf(g) + 1.0f);",
  sizes   = { { e = 16000000, n = 3000000 } },
  tolerance = 1e-5,
}
