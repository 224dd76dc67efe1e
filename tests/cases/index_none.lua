-- Rows and elements that may be missing, by way of an index array that may hold none, too.
local s = require "sectile"
return s.kernel {
  name = "index_none",
  dims = { "i", "d" },
  inputs = {
    s.array("pick", "i16", s.row_major, { dims = { "i" }, fill = "random", none = true }),
    s.array("row", "i32", s.row_major, { dims = { "q" }, at = { "pick" }, fill = "random",
                                         none = true }),
    s.array("x", "f32", s.row_major, { dims = { "m", "d" }, at = { "row", "d" } }),
    s.array("u", "f32", s.row_major, { dims = { "t" }, at = { "2 * pick + d" } }),
  },
  outputs = { s.array("y", "f32") },
  body = "y = (pick < 0 ? 0.0f : u) + (pick < 0 || row < 0 ? 0.0f : x);",
  sizes = { { i = 500, d = 40, q = 300, m = 200, t = 800 },
            { i = 99, d = 33, q = 30, m = 20, t = 100 } },
}
