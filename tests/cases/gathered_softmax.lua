-- A softmax of what an index array names along each row, whose results go where another one says:
-- index arrays are loaded before what lies there, and held where that is.
local s = require "sectile"
return s.kernel {
  name    = "gathered_softmax",
  dims    = { "row", "col" },
  inputs  = {
    s.array("x", "f32", s.row_major, { dims = { "m" }, at = { "pick" } }),
    s.array("w", "f16", s.row_major, { dims = { "row", "n" }, at = { "row", "which" } }),
    s.array("pick", "i32", s.row_major, { fill = "random" }),
    s.array("which", "u16", s.row_major, { dims = { "c" }, at = { "deep" }, fill = "random" }),
    s.array("deep", "i32", s.row_major, { dims = { "col" }, fill = "random" }),
    s.array("slot", "i64", s.row_major, { dims = { "col" }, fill = "permuted" }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row", "q" }, at = { "row", "slot" } }) },
  steps   = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m) * w;" },
    { body = "y = expf(x - m) / t + (float)(pick & 1);" },
  },
  sizes   = { { row = 60, col = 1000, m = 5000, n = 300, c = 777, q = 1000 },
    { row = 3, col = 7, m = 1, n = 2, c = 3, q = 7 } },
}
