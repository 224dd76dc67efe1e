-- Rows of a flat array, written where an index array says by way of another.
local s = require "sectile"
return s.kernel {
  name = "index_scatter",
  dims = { "r", "i" },
  inputs = {
    s.array("pick", "i32", s.row_major, { dims = { "r" }, fill = "permuted" }),
    s.array("row", "i32", s.row_major, { dims = { "q" }, at = { "pick" }, fill = "permuted" }),
    s.array("x", "f32"),
  },
  outputs = { s.array("o", "f32", s.row_major, { dims = { "t" }, at = { "row * n_i + i" } }) },
  body = "o = x;",
  sizes = { { r = 500, i = 128, q = 600, t = 90000 }, { r = 77, i = 99, q = 77, t = 7623 } },
}
