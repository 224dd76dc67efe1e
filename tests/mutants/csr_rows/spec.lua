local s = require "sectile"
return s.kernel {
  name = "m_csr_rows",
  dims = { "row", "k" },
  ragged = { k = "p" },
  inputs = {
    s.array("p", "i32", nil, { dims = { "row" } }), s.array("v", "f32", nil, { dims = { "k" } }),
  },
  outputs = { s.array("y", "f32", nil, { dims = { "k" } }) },
  steps = {
    { reduce = { m = "max" }, body = "m = v;" },
    { body = "y = v - m;" },
  },
  over = "k",
  also = {
    cuda = "k.cu", kernel = "k", args = { "n_row", "p", "v", "y" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } },
    block = 64, grid = "min((n_row + 1) // 2, 40)",
  },
  sizes = { { row = 10000, k = 160000, p = "power" } },
}
