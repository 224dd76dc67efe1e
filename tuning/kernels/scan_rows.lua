-- Running sums of each row of a matrix: o[row][col] = a[row][0] + ... + a[row][col].
--
-- Short rows have a part of a warp each, longer ones a block, which goes through them tile by tile;
-- few very long ones have many blocks.
local s = require "sectile"

return s.kernel {
  name    = "scan_rows",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("o", "f32", s.row_major, { scan = "sum" }) },
  body    = "o = a;",
  sizes   = {
    { row = 524288, col = 128 }, { row = 16384, col = 4096 }, { row = 1024, col = 65536 },
  },
}
