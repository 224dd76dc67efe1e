-- Rows that steps reduce, found by way of two index arrays.
local s = require "sectile"
return s.kernel {
  name = "index_steps",
  dims = { "i", "d" },
  inputs = {
    s.array("a", "i32", s.row_major, { dims = { "i" }, fill = "random" }),
    s.array("b", "i64", s.row_major, { dims = { "p" }, at = { "a" }, fill = "random" }),
    s.array("x", "f32", s.row_major, { dims = { "m", "d" }, at = { "b", "d" } }),
  },
  outputs = { s.array("y", "f32") },
  steps = { { reduce = { top = "max" }, body = "top = x;" }, { body = "y = x - top;" } },
  sizes = { { i = 300, d = 500, p = 200, m = 3000 } },
}
