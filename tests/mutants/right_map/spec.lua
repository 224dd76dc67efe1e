local s = require "sectile"
local function kernel(fields)
  fields.cuda = "k.cu"
  fields.args = fields.args or { "n_i", "g", "x", "y" }
  fields.block = fields.block or 128
  fields.grid = fields.grid or "(n_i + 127) // 128"
  fields.where = { "n_i < 1000000000" }
  return fields
end

return s.kernel {
  name = "m_right_map",
  dims = { "i" },
  scalars = { { "g", "f32" } },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  body = "y = g * x;",
  also = {
    kernel { kernel = "grid_stride", grid = "min((n_i + 127) // 128, 16)" },
    kernel { kernel = "peeled" },
    kernel { kernel = "fast_path", grid = "(n_i + 511) // 512" },
    kernel { kernel = "either_path", grid = "(n_i + 511) // 512" },
    kernel { kernel = "of_unsigned", args = { { "n_i", "u32" }, "g", "x", "y" } },
    kernel { kernel = "of_type<float, 4>", grid = "(n_i + 511) // 512" },
    kernel { kernel = "of_struct", args = { { "n_i", "i64" }, "g", "x", "y" } },
    kernel { kernel = "bounded" },
    kernel { kernel = "grouped" },
    kernel { kernel = "in_ptx" },
    kernel { kernel = "staged", shared = "4 * 128" },
    kernel { kernel = "copied" },
    kernel { kernel = "by_lambda" },
    kernel { kernel = "asserted" },
    kernel { kernel = "by_warps", block = { 32, 4 } },
    kernel { kernel = "from_the_end" },
  },
  sizes = { { i = 1 << 22 } },
}
