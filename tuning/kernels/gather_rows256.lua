-- Gather rows of 64 floats by a permuted index: b[row, col] = table[pick[row], col].
--
-- 256 bytes a row: sixteen lanes share one, and several rows a group of lanes are on their way.
local s = require "sectile"

return s.kernel {
  name    = "gather_rows256",
  dims    = { "row", "col" },
  inputs  = {
    s.array("pick", "i32", s.row_major, { dims = { "row" } }),
    s.array("table", "f32", s.row_major, { dims = { "m", "col" }, at = { "pick", "col" } }),
  },
  outputs = { s.array("b", "f32") },
  body    = "b = table;",
  sizes   = { { row = 1 << 21, col = 64, m = 1 << 21, pick = "permuted" } },
}
