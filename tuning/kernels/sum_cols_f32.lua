-- The sum of each column of a matrix.
--
-- Neighbouring lanes own neighbouring columns, so that each row is read in order; the warps of a
-- block, and several blocks, take different rows of their columns.
local s = require "sectile"

return s.kernel {
  name    = "sum_cols_f32",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("total", "f32", s.row_major, { dims = { "col" }, reduce = "sum" }) },
  body    = "total = a;",
  sizes   = { { row = 16384, col = 16384 }, { row = 8191, col = 8193 } },
}
