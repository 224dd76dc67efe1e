-- Half floats where a mask of bits has them, zero elsewhere.
local s = require "sectile"
return s.kernel {
  name    = "masked_f16",
  dims    = { "row", "col" },
  inputs  = { s.array("m", "u1"), s.array("x", "f16") },
  outputs = { s.array("y", "f16") },
  body    = "y = m ? (float)x : 0.0f;",
  sizes   = { { row = 8192, col = 6144 } },
}
