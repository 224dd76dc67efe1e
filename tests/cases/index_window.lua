-- Windows that start where an index array says: the places of vectors are known to be anywhere.
local s = require "sectile"
return s.kernel {
  name = "index_window",
  dims = { "w", "i" },
  inputs = {
    s.array("start", "i64", s.row_major, { dims = { "w" }, fill = "random" }),
    s.array("x", "u8", s.row_major, { dims = { "t" }, at = { "start + i" } }),
    s.array("y", "f32", s.row_major, { dims = { "t" }, at = { "4 * start + 3 - i % 4" } }),
  },
  outputs = { s.array("o", "f32") },
  body = "o = x + y;",
  sizes = { { w = 500, i = 128, t = 6000 }, { w = 500, i = 99, t = 6000 } },
}
