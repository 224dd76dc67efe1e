-- Weights by bin, a thousand bins.
local s = require "sectile"
return s.kernel {
  name    = "bin_weights",
  dims    = { "i" },
  inputs  = {
    s.array("bin", "u16", s.row_major, { fill = "random" }),
    s.array("w", "f32"),
  },
  outputs = {
    s.array("y", "f32", s.row_major,
      { dims = { "b" }, at = { "bin" }, accumulate = "add", inout = true }),
  },
  body    = "y = w;",
  sizes   = { { i = 25000000, b = 1000 } },
}
