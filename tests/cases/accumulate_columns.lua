-- No index array: sums of blocks of 8 rows by 5 columns of a matrix that lies by columns.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_columns",
  dims    = { "i", "j" },
  inputs  = { s.array("a", "f64", s.col_major) },
  outputs = {
    s.array("b", "f64", s.row_major,
      { at = { "i // 8", "j // 5" }, extents = { "(i + 7) // 8", "(j + 4) // 5" },
        accumulate = "add" }),
  },
  body    = "b = a;",
  sizes   = { { i = 200, j = 131 } },
}
