-- Activations to floats of a byte, a scale for each 128 of a row.
local s = require "sectile"
return s.kernel {
  name    = "e4m3_blocks",
  dims    = { "row", "col" },
  inputs  = {
    s.array("x", "bf16"),
    s.array("scale", "f32", s.row_major,
      { at = { "row", "col // 128" }, extents = { "row", "(col + 127) // 128" } }),
  },
  outputs = { s.array("q", "e4m3") },
  body    = "q = scale * x;",
  sizes   = { { row = 8192, col = 7168 } },
}
