local s = require "sectile"
local function kernel(fields)
  fields.cuda = "k.cu"
  fields.args = { "n_i", "n_m", "key", "h" }
  fields.block = 128
  fields.grid = fields.grid or "(n_i + 127) // 128"
  fields.where = { "n_i < 1000000000", "n_m < 1000000000" }
  return fields
end

return s.kernel {
  name = "m_right_bins",
  dims = { "i" },
  inputs = { s.array("key", "i32", nil, { fill = "random" }) },
  outputs = { s.array("h", "u32", nil, { dims = { "m" }, at = { "key" }, accumulate = "add" }) },
  body = "h = 1;",
  also = {
    kernel { kernel = "plain" },
    kernel { kernel = "swaps" },
    kernel { kernel = "swaps_by_turns" },
    kernel { kernel = "matched" },
    kernel { kernel = "coalesced" },
    kernel { kernel = "in_ptx" },
    kernel { kernel = "private_bins", grid = "(n_i + 1023) // 1024" },
    kernel { kernel = "runs", grid = "(n_i + 1023) // 1024" },
  },
  sizes = { { i = 1 << 22, m = 1000 } },
}
