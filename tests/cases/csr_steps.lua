-- A sparse matrix times a vector, y = a A x + b y: an index array that changes along rows, beside a
-- step that is done once a row and so has no place in them.
local s = require "sectile"
return s.kernel {
  name    = "csr_steps",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  scalars = { { "a", "f32" }, { "b", "f32" } },
  inputs  = {
    s.array("ptr", "i64", s.row_major, { dims = { "row" } }),
    s.array("col", "u16", s.row_major, { dims = { "k" }, fill = "random" }),
    s.array("v", "f32", s.row_major, { dims = { "k" } }),
    s.array("x", "f32", s.row_major, { dims = { "c" }, at = { "col" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, inout = true }) },
  steps   = {
    { reduce = { t = "sum" }, body = "t = v * x;" },
    { body = "y = fmaf(a, t, b * y);" },
  },
  sizes   = { { row = 300, k = 9000, c = 500, ptr = "power" }, { row = 7, k = 0, c = 1 } },
}
