-- The sum of each row of a matrix.
--
-- Along a row lanes read neighbours, and what they found is combined at the end: only reading
-- counts. Rows of the odd size start anywhere, so that no word of several elements is aligned in
-- all of them.
local s = require "sectile"

return s.kernel {
  name    = "sum_rows_f32",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("total", "f32", s.row_major, { dims = { "row" }, reduce = "sum" }) },
  body    = "total = a;",
  sizes   = { { row = 16384, col = 16384 }, { row = 8191, col = 8193 } },
}
