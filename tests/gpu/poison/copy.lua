-- A copy of f32: what poison.py tunes with candidates that misbehave among good ones.
local s = require "sectile"

return s.kernel {
  name    = "poison_copy",
  dims    = { "i" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 67108864 } },
}
