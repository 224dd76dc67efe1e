local s = require "sectile"
local function kernel(fields)
  fields.cuda = "k.cu"
  fields.args = { "n_r", "n_c", "a", "b" }
  fields.block = fields.block or 128
  fields.grid = "n_r"
  fields.where = { "n_r * n_c < 2147483648" }
  return fields
end

return s.kernel {
  name = "m_right_scan",
  dims = { "r", "c" },
  inputs = { s.array("a", "i32") },
  outputs = { s.array("b", "i32", nil, { scan = "sum" }) },
  body = "b = a;",
  also = {
    kernel { kernel = "hillis_steele" },
    kernel { kernel = "blelloch" },
    kernel { kernel = "warps" },
    kernel { kernel = "threads" },
  },
  sizes = { { r = 1024, c = 4096 } },
}
