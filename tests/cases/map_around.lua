-- Rows that start anywhere, by the aligned words around their vectors.
local s = require "sectile"
return s.kernel {
  name = "map_around",
  dims = { "row", "col" },
  inputs = {
    s.array("a", "u16", s.row_major, { at = { "row + 1", "col + 3" }, pad = { 2, 5 } }),
    s.array("w", "u16", s.row_major, { dims = { "col" } }),
  },
  outputs = { s.array("b", "u16") },
  body = "b = a + w;",
  sizes = { { row = 77, col = 1000 }, { row = 33, col = 999 } },
}
