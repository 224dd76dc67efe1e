-- Each element times its row's scale: the row of an element is searched for.
local s = require "sectile"
return s.kernel {
  name    = "ragged_scale",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i64", s.row_major, { dims = { "row" } }),
    s.array("x", "f32", s.row_major, { dims = { "k" } }),
    s.array("scale", "f32", s.row_major, { dims = { "row" } }),
  },
  outputs = { s.array("o", "f32", s.row_major, { dims = { "k" } }) },
  body    = "o = x * scale;",
  sizes   = { { row = 1000, k = 20000, ptr = "power" } },
}
