-- The smallest thing there is to tune, for tests that run sessions by the thousand.
local s = require "sectile"

return s.kernel {
  name    = "copy",
  dims    = { "i" },
  inputs  = { s.array("a", "f32", s.aos) },
  outputs = { s.array("b", "f32", s.aos) },
  body    = "b = a;",
  sizes   = { { i = 64 } },
}
