-- Weights of a byte to half floats, a scale a row.
local s = require "sectile"
return s.kernel {
  name    = "int8_scaled",
  dims    = { "row", "col" },
  inputs  = {
    s.array("q", "i8"),
    s.array("scale", "f32", s.row_major, { dims = { "row" } }),
  },
  outputs = { s.array("w", "f16") },
  body    = "w = scale * q;",
  sizes   = { { row = 4096, col = 11008 } },
}
