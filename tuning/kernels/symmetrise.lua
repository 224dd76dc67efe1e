-- The symmetric part of a matrix: the mean of it and its transpose.
--
-- The caller gives the same array twice. The one that is read across goes through shared memory,
-- the other one moves in vectors, as the result does.
local s = require "sectile"

return s.kernel {
  name    = "symmetrise",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32"), s.array("at", "f32", s.col_major) },
  outputs = { s.array("b", "f32") },
  body    = "b = 0.5f * (a + at);",
  sizes   = { { row = 16384, col = 16384 }, { row = 16383, col = 16383 } },
}
