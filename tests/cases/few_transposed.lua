-- A transpose of bytes tuned where no box is as large as the smallest that is tried, or there is
-- none at all.
local s = require "sectile"
return s.kernel {
  name    = "few_transposed",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "u8") },
  outputs = { s.array("b", "u8", s.col_major) },
  body    = "b = a;",
  sizes   = { { row = 30, col = 29 }, { row = 1, col = 1 }, { row = 0, col = 5 } },
}
