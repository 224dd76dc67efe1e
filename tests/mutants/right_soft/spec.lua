local s = require "sectile"
local function kernel(fields)
  fields.cuda = "k.cu"
  fields.args = { "n_r", "n_c", "x", "y" }
  fields.grid = fields.grid or "n_r"
  fields.block = fields.block or 128
  fields.where = { "n_r * n_c < 2147483648" }
  return fields
end

return s.kernel {
  name = "m_right_soft",
  dims = { "r", "c" },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { body = "y = expf(x - m) / t;" },
  },
  tolerance = 1e-4,
  also = {
    kernel { kernel = "three_passes" },
    kernel { kernel = "by_warp", block = { 32, 2 }, grid = "(n_r + 1) // 2" },
    kernel { kernel = "base_two" },
    kernel { kernel = "reciprocal" },
  },
  sizes = { { r = 4096, c = 1024 } },
}
