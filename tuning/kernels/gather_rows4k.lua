-- Gather rows of 1024 floats by a permuted index: b[row, col] = table[pick[row], col].
--
-- 4 KB a row: a copy of long pieces.
local s = require "sectile"

return s.kernel {
  name    = "gather_rows4k",
  dims    = { "row", "col" },
  inputs  = {
    s.array("pick", "i32", s.row_major, { dims = { "row" } }),
    s.array("table", "f32", s.row_major, { dims = { "m", "col" }, at = { "pick", "col" } }),
  },
  outputs = { s.array("b", "f32") },
  body    = "b = table;",
  sizes   = { { row = 1 << 17, col = 1024, m = 1 << 17, pick = "permuted" } },
}
