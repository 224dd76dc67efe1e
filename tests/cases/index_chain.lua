-- Rows and single elements that index arrays find by way of others, listed in another order.
local s = require "sectile"
return s.kernel {
  name = "index_chain",
  dims = { "t", "d" },
  inputs = {
    s.array("block", "i32", s.row_major,
      { dims = { "q", "b" }, at = { "pick", "d // 8" }, extents = { "q", "(d + 7) // 8" },
        fill = "random" }),
    s.array("page", "u16", s.row_major, { dims = { "m" }, at = { "block" }, fill = "random" }),
    s.array("pick", "u8", s.row_major, { dims = { "t" }, fill = "random" }),
    s.array("p", "f32", s.row_major, { dims = { "k", "d" }, at = { "page", "d % 8" },
                                       extents = { "k", "8" } }),
    s.array("u", "f32", s.row_major, { dims = { "q2" }, at = { "2 * pick + d" } }),
  },
  outputs = { s.array("o", "f32") },
  body = "o = p + u + page;",
  sizes = { { t = 100, d = 40, q = 100, m = 300, k = 500, q2 = 300 } },
}
