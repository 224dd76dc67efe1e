-- Add floats where an index array says: y[pick[i]] += x[i], onto what y holds.
--
-- Sums of one element are added in any order, so results are compared within a tolerance that
-- follows from the number of points.
local s = require "sectile"

return s.kernel {
  name    = "scatter_add",
  dims    = { "i" },
  inputs  = { s.array("pick", "i32", s.row_major, { fill = "random" }), s.array("x", "f32") },
  outputs = {
    s.array("y", "f32", s.row_major,
      { dims = { "m" }, at = { "pick" }, accumulate = "add", inout = true }),
  },
  body    = "y = x;",
  sizes   = { { i = 1 << 24, m = 1 << 20 } },
}
