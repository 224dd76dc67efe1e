local s = require "sectile"
local function kernel(fields)
  fields.cuda = "k.cu"
  fields.args = { "n_r", "n_c", "a", "b" }
  fields.block = fields.block or { 32, 8 }
  fields.grid = fields.grid or { "(n_c + 31) // 32", "(n_r + 31) // 32" }
  fields.where = { "n_r * n_c < 2147483648", "n_r < 2000000" }
  return fields
end

return s.kernel {
  name = "m_right_turn",
  dims = { "r", "c" },
  inputs = { s.array("a", "u32") },
  outputs = { s.array("b", "u32", nil, { dims = { "c", "r" } }) },
  body = "b = a;",
  also = {
    kernel { kernel = "plain" },
    kernel { kernel = "padded" },
    kernel { kernel = "swizzled" },
    kernel { kernel = "dynamic", shared = "4 * 32 * 33" },
    kernel { kernel = "shuffled", block = { 32, 1 } },
    kernel { kernel = "persistent", grid = "16" },
  },
  sizes = { { r = 4096, c = 4096 } },
}
