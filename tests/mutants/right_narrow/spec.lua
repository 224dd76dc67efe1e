local s = require "sectile"
local function kernel(fields)
  fields.cuda = "k.cu"
  fields.args = { { "n_i", "i64" }, "a", "q", "b", "t" }
  fields.block = 128
  fields.grid = fields.grid or "(n_i + 127) // 128"
  return fields
end

return s.kernel {
  name = "m_right_narrow",
  dims = { "i" },
  inputs = { s.array("a", "f32"), s.array("q", "e4m3") },
  outputs = { s.array("b", "bf16"), s.array("t", "f32") },
  body = "b = a; t = q;",
  also = {
    kernel { kernel = "intrinsics" },
    kernel { kernel = "by_hand" },
    kernel { kernel = "by_table" },
    kernel { kernel = "in_ptx" },
    kernel { kernel = "in_pairs", grid = "(n_i + 255) // 256" },
  },
  sizes = { { i = 1 << 20 } },
}
