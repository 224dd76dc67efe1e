local s = require "sectile"
local function kernel(f)
  f.cuda = "k.cu"; f.args = { "n_r", "n_c", "g", "x", "y" }; f.block = f.block or 128
  f.grid = f.grid or "n_r"; f.where = { "n_r * n_c <= 1000" }
  return f
end
return s.kernel {
  name = "m_right_cumsum", dims = { "r", "c" }, scalars = { { "g", "f32" } },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32", nil, { scan = "sum" }) },
  body = "y = x + g;",
  also = { kernel { kernel = "serial", grid = "(n_r + 127) // 128" }, kernel { kernel = "steele" },
    kernel { kernel = "warps" } },
  sizes = { { r = 512, c = 100 } },
}
