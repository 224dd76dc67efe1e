-- Rows are added onto rows, of odd length; a second output counts them. Names that the kernel has.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_rows",
  dims    = { "i", "tile" },
  inputs  = {
    s.array("key", "i32", s.row_major, { dims = { "i" } }),
    s.array("x", "f32"),
  },
  outputs = {
    s.array("y", "f32", s.row_major,
      { dims = { "m", "tile" }, at = { "key", "tile" }, accumulate = "add", inout = true }),
    s.array("sum", "u32", s.row_major, { dims = { "m" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "y = x; if (tile == 0) sum = 1; else keep(sum);",
  sizes   = { { i = 1000, tile = 37, m = 50 } },
}
