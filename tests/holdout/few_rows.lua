-- A batch of a hundred and fifty rows, looked up.
local s = require "sectile"
return s.kernel {
  name    = "few_rows",
  dims    = { "row", "col" },
  inputs  = {
    s.array("pick", "i64", s.row_major, { dims = { "row" }, fill = "random" }),
    s.array("t", "f32", s.row_major, { dims = { "m", "col" }, at = { "pick", "col" } }),
  },
  outputs = { s.array("y", "f32") },
  body    = "y = t;",
  sizes   = { { row = 150, col = 96, m = 100000 } },
}
