local s = require "sectile"
return s.kernel {
  name = "m_spread",
  dims = { "row", "k" },
  ragged = { k = "p" },
  inputs = {
    s.array("p", "i32", nil, { dims = { "row" } }), s.array("v", "i32", nil, { dims = { "k" } }),
    s.array("w", "i32", nil, { dims = { "row" } }),
  },
  outputs = { s.array("z", "i32", nil, { dims = { "k" } }) },
  body = "z = v * w + (int)(k - p);",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_row", "i64" }, { "n_k", "i64" }, "p", "v", "w", "z" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
    block = 128, grid = "(n_k + 1023) // 1024",
  },
  sizes = { { row = 10000, k = 160000, p = "power" } },
}
