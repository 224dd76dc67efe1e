-- Each element gets the value of its row.
local s = require "sectile"

return s.kernel {
  name    = "ragged_expand",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i32", s.row_major, { dims = { "row" } }),
    s.array("value", "f32", s.row_major, { dims = { "row" } }),
  },
  outputs = { s.array("o", "f32", s.row_major, { dims = { "k" } }) },
  body    = "o = value;",
  sizes   = { { row = 3000, k = 10000, ptr = "power" } },
}
