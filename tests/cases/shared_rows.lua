-- A product of rows of 4-bit weights and a vector: reduced along the elements that share bytes.
local s = require "sectile"
return s.kernel {
  name = "shared_rows",
  dims = { "row", "col" },
  inputs = {
    s.array("q", "i4"), s.array("x", "f16", s.row_major, { dims = { "col" } }),
    s.array("scale", "f32", s.row_major,
      { at = { "row", "col // 64" }, extents = { "row", "(col + 63) // 64" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body = "y = q * scale * x;",
  sizes = { { row = 100, col = 4096 }, { row = 33, col = 1001 } },
}
