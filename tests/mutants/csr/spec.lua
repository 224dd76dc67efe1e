local s = require "sectile"
return s.kernel {
  name = "m_csr",
  dims = { "row", "k" },
  ragged = { k = "p" },
  inputs = {
    s.array("p", "i64", nil, { dims = { "row" } }),
    s.array("col", "i32", nil, { dims = { "k" }, fill = "random" }),
    s.array("v", "f32", nil, { dims = { "k" } }),
    s.array("x", "f32", nil, { dims = { "c" }, at = { "col" } }),
  },
  outputs = { s.array("y", "f32", nil, { dims = { "row" }, reduce = "sum" }) },
  body = "y = v * x;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_row", "i64" }, "p", "col", "v", "x", "y" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } },
    block = 64, grid = "(n_row + 63) // 64",
  },
  sizes = { { row = 10000, k = 160000, c = 5000, p = "power" } },
}
