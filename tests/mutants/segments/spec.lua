local s = require "sectile"
return s.kernel {
  name = "m_segments",
  dims = { "row", "k" },
  ragged = { k = "p" },
  inputs = {
    s.array("p", "i32", nil, { dims = { "row" } }), s.array("v", "i32", nil, { dims = { "k" } }),
  },
  outputs = {
    s.array("y", "i32", nil, { dims = { "row" }, reduce = "sum" }),
    s.array("m", "i32", nil, { dims = { "row" }, reduce = "max" }),
  },
  body = "y = v; m = v;",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_row", "i64" }, { "n_k", "i64" }, "p", "v", "y", "m" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
    block = 128, grid = "(n_row + 15) // 16",
  },
  sizes = { { row = 10000, k = 160000, p = "power" } },
}
