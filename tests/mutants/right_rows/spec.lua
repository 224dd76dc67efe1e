local s = require "sectile"
local function kernel(fields)
  fields.cuda = "k.cu"
  fields.args = { "n_r", "n_c", "a", "t", "m" }
  fields.block = fields.block or 128
  fields.grid = fields.grid or "n_r"
  fields.where = { "n_r * n_c < 2147483648", "n_r < 8000000" }
  return fields
end

return s.kernel {
  name = "m_right_rows",
  dims = { "r", "c" },
  inputs = { s.array("a", "i32") },
  outputs = {
    s.array("t", "i32", nil, { dims = { "r" }, reduce = "sum" }),
    s.array("m", "i32", nil, { dims = { "r" }, reduce = "argmax" }),
  },
  body = "t = a; m = a;",
  also = {
    kernel { kernel = "by_thread", grid = "(n_r + 127) // 128" },
    kernel { kernel = "by_warp", block = { 32, 4 }, grid = "(n_r + 3) // 4" },
    kernel { kernel = "by_tree" },
    kernel { kernel = "by_groups" },
    kernel { kernel = "packed" },
    kernel { kernel = "by_atomics" },
    kernel { kernel = "vectors" },
  },
  sizes = { { r = 4096, c = 4096 } },
}
