-- A sparse matrix times a dense one, whose columns are a dimension between rows and their elements.
local s = require "sectile"

return s.kernel {
  name    = "ragged_spmm",
  dims    = { "row", "j", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i64", s.row_major, { dims = { "row" } }),
    s.array("col", "i32", s.row_major, { dims = { "k" }, fill = "random" }),
    s.array("v", "f32", s.row_major, { dims = { "k" } }),
    s.array("x", "f32", s.row_major, { dims = { "c", "j" }, at = { "col", "j" } }),
    s.array("bias", "f32", s.row_major, { dims = { "row" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row", "j" }, reduce = "sum" }) },
  body    = "y = v * x + bias * 0.0625f;",
  sizes   = { { row = 200, j = 17, k = 3000, c = 300, ptr = "uniform" } },
}
