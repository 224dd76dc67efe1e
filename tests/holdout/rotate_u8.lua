-- A grey image turned by a quarter.
local s = require "sectile"
return s.kernel {
  name    = "rotate_u8",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "u8", s.row_major, {
    dims = { "col", "row" }, at = { "col", "n_row - 1 - row" } }) },
  outputs = { s.array("b", "u8") },
  body    = "b = a;",
  sizes   = { { row = 8000, col = 6000 } },
}
