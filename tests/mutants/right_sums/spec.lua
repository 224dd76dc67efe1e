local s = require "sectile"
local function kernel(f)
  f.cuda = "k.cu"; f.args = { "n_r", "n_c", "g", "b", "x", "y" }; f.block = f.block or 128
  f.grid = f.grid or "n_r"; f.where = { "n_r * n_c <= 1000" }
  return f
end
return s.kernel {
  name = "m_right_sums", dims = { "r", "c" },
  scalars = { { "g", "f32" }, { "b", "f32" } },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32", nil, { dims = { "r" }, reduce = "sum" }) },
  body = "y = g * x + b * 0.3f;",
  also = { kernel { kernel = "serial", grid = "(n_r + 127) // 128" }, kernel { kernel = "tree" },
    kernel { kernel = "kahan", grid = "(n_r + 127) // 128" }, kernel { kernel = "twice" },
    kernel { kernel = "pairs" } },
  sizes = { { r = 512, c = 100 } },
}
