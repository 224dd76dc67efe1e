-- Half floats of two kinds, a dimension that the body names.
local s = require "sectile"
return s.kernel {
  name = "map_halves",
  dims = { "i" },
  scalars = { { "load", "bf16" } },
  inputs = {
    s.array("p", "bf16"),
  },
  outputs = { s.array("q", "f16") },
  body = "q = (float)p * (float)load + (float)(i % 3);",
  sizes = { { i = 100003 } }
}
