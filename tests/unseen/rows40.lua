-- Rows of 40 bytes that an index array picks.
local s = require "sectile"
return s.kernel {
  name = "rows40", dims = { "r", "c" },
  inputs = {
    s.array("pick", "i32", s.row_major, { dims = { "r" } }),
    s.array("t", "f32", s.row_major, { dims = { "m", "c" }, at = { "pick", "c" } }),
  },
  outputs = { s.array("b", "f32") },
  body    = "b = t;",
  sizes   = { { r = 2500001, c = 10, m = 2500001, pick = "permuted" } },
}
