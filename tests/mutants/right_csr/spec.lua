local s = require "sectile"
local function kernel(fields)
  fields.cuda = "k.cu"
  fields.args = { "n_row", "p", "col", "v", "x", "y" }
  fields.block = fields.block or 128
  fields.where = { "n_row < 100000000" }
  return fields
end

return s.kernel {
  name = "m_right_csr",
  dims = { "row", "k" },
  ragged = { k = "p" },
  inputs = {
    s.array("p", "i32", nil, { dims = { "row" } }),
    s.array("col", "i32", nil, { dims = { "k" }, fill = "random", none = true }),
    s.array("v", "f32", nil, { dims = { "k" } }),
    s.array("x", "f32", nil, { dims = { "c" }, at = { "col" } }),
  },
  outputs = { s.array("y", "f32", nil, { dims = { "row" }, reduce = "sum" }) },
  body = "y = col < 0 ? 0.0f : v * x;",
  also = {
    kernel { kernel = "scalar", grid = "(n_row + 127) // 128" },
    kernel { kernel = "vector", grid = "(n_row + 3) // 4" },
    kernel { kernel = "subwarps<8>", grid = "(n_row + 15) // 16" },
    kernel { kernel = "adaptive", grid = "n_row" },
  },
  sizes = { { row = 10000, k = 160000, c = 5000, p = "power" } },
}
