-- The least and the greatest x of each row, of records; the place in the row, by the row's offset.
local s = require "sectile"
local point = s.record { { "x", "f32" }, { "id", "u16" }, name = "point" }

return s.kernel {
  name    = "ragged_bounds",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i32", s.row_major, { dims = { "row" } }),
    s.array("p", point, s.aosoa { lanes = 8 }, { dims = { "k" } }),
  },
  outputs = {
    s.array("low", "f32", s.row_major, { dims = { "row" }, reduce = "min" }),
    s.array("high", "f32", s.row_major, { dims = { "row" }, reduce = "max" }),
    s.array("ids", "u64", s.row_major, { dims = { "row" }, reduce = "sum" }),
  },
  body    = "low = p.x; high = p.x; ids = p.id * (k - ptr + 1) + row;",
  sizes   = { { row = 100, k = 7777, ptr = "uniform" }, { row = 100, k = 800, ptr = "constant" } },
}
