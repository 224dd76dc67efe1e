-- Rows and single elements that index arrays find.
local s = require "sectile"
return s.kernel {
  name = "map_gather",
  dims = { "t", "d" },
  inputs = {
    s.array("pick", "i32", s.row_major, { dims = { "t" }, fill = "random" }),
    s.array("o", "i32", s.row_major, { dims = { "t", "d" }, fill = "random" }),
    s.array("p", "f32", s.row_major, { dims = { "m", "d" }, at = { "pick", "d" } }),
    s.array("u", "f32", s.row_major, { dims = { "m2" }, at = { "o" } }),
  },
  outputs = { s.array("q", "f32") },
  body = "q = p + u;",
  sizes = { { t = 777, d = 40, m = 100, m2 = 5000 }, { t = 100, d = 33, m = 100, m2 = 5000 } }
}
