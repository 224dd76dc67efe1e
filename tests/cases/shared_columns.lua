-- Bytes that neighbours along the slow mode share: weights as the last dimension of a transpose.
local s = require "sectile"
return s.kernel {
  name = "shared_columns",
  dims = { "row", "col" },
  inputs = {
    s.array("q", "u4", s.col_major), s.array("p", "i4", s.row_major, { dims = { "col", "row" } }),
  },
  outputs = { s.array("o", "i8") },
  body = "o = q - 16 * p;",
  sizes = { { row = 300, col = 77 }, { row = 128, col = 256 } },
}
