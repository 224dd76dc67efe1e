-- The largest entry of each row of a sparse matrix, few rows long.
local s = require "sectile"
return s.kernel {
  name    = "csr_row_max",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i64", s.row_major, { dims = { "row" } }),
    s.array("v", "f32", s.row_major, { dims = { "k" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row" }, reduce = "max" }) },
  body    = "y = fabsf(v);",
  sizes   = { { row = 500000, k = 20000000, ptr = "power" } },
}
