-- Rows of 200 bytes that an index array picks.
local s = require "sectile"
return s.kernel {
  name = "rows200", dims = { "r", "c" },
  inputs = {
    s.array("pick", "i32", s.row_major, { dims = { "r" } }),
    s.array("t", "f32", s.row_major, { dims = { "m", "c" }, at = { "pick", "c" } }),
  },
  outputs = { s.array("b", "f32") },
  body    = "b = t;",
  sizes   = { { r = 500001, c = 50, m = 500001, pick = "permuted" } },
}
