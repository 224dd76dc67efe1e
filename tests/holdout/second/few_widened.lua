-- A few halves, widened and scaled.
local s = require "sectile"
return s.kernel {
  name    = "few_widened",
  dims    = { "i" },
  scalars = { { "k", "f32" } },
  inputs  = { s.array("a", "f16") },
  outputs = { s.array("b", "f32") },
  body    = "b = k * (float)a;",
  sizes   = { { i = 11000 } },
}
