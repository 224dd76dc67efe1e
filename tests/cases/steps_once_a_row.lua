-- Log-sum-exp of rows, in an element a row, beside what is divided by it.
local s = require "sectile"

return s.kernel {
  name    = "steps_once_a_row",
  dims    = { "row", "col" },
  inputs  = { s.array("x", "f32"), s.array("w", "f32", s.row_major, { dims = { "col" } }) },
  outputs = { s.array("y", "f32"), s.array("l", "f32", s.row_major, { dims = { "row" } }) },
  steps   = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum", n = { "sum", "i32" } }, body = "t = expf(x - m); n = x > 0.0f;" },
    { body = "l = m + logf(t) + n;" },
    { body = "y = expf(x - m) / t * w;" },
  },
  sizes   = { { row = 60, col = 1000 } },
}
