-- Columns of integers relative to their least value: the fastest mode is kept.
local s = require "sectile"

return s.kernel {
  name    = "steps_columns",
  dims    = { "plane", "row", "col" },
  over    = "row",
  inputs  = { s.array("x", "i32") },
  outputs = {
    s.array("y", "i32"), s.array("least", "i64", s.row_major, { dims = { "plane", "col" } }),
  },
  steps   = {
    { reduce = { m = { "min", "i32" }, n = { "sum", "i64" } }, body = "m = x; n = x;" },
    { body = "least = m + n;" },
    { body = "y = (int)((unsigned int)x - (unsigned int)m);" },
  },
  sizes   = { { plane = 3, row = 100, col = 70 } },
}
