-- A tone curve: each sample looks up its value in a table of 256.
local s = require "sectile"
return s.kernel {
  name    = "tone_curve",
  dims    = { "row", "col" },
  inputs  = {
    s.array("p", "u8", s.row_major, { fill = "random" }),
    s.array("curve", "f32", s.row_major, { dims = { "level" }, at = { "p" } }),
  },
  outputs = { s.array("y", "f32") },
  body    = "y = curve;",
  sizes   = { { row = 6000, col = 8000, level = 256 } },
}
