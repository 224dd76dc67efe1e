-- Rows of 100 bytes that an index array picks.
local s = require "sectile"
return s.kernel {
  name = "rows100", dims = { "r", "c" },
  inputs = {
    s.array("pick", "i32", s.row_major, { dims = { "r" } }),
    s.array("t", "f32", s.row_major, { dims = { "m", "c" }, at = { "pick", "c" } }),
  },
  outputs = { s.array("b", "f32") },
  body    = "b = t;",
  sizes   = { { r = 900001, c = 25, m = 900001, pick = "permuted" } },
}
