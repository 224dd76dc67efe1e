-- Layer norm of rows: mean 0 and variance 1, then scaled and shifted by column. The variance is the
-- mean square of what differs from the mean, which loses no digits.
--
-- kernel layer_norm: type=f32
-- kernel layer_norm_bf16: type=bf16
local s = require "sectile"
local p = s.params { type = "f32" }
local column = { dims = { "col" } }

return s.kernel {
  name    = p.type == "f32" and "layer_norm" or "layer_norm_" .. p.type,
  dims    = { "row", "col" },
  scalars = { { "eps", "f32" } },
  inputs  = {
    s.array("x", p.type), s.array("gamma", p.type, s.row_major, column),
    s.array("beta", p.type, s.row_major, column),
  },
  outputs = { s.array("y", p.type) },
  steps   = {
    { reduce = { t = "sum" }, body = "t = x;" },
    { row = { mean = "f32" }, body = "mean = t / n_col;" },
    { reduce = { q = "sum" }, body = "float d = x - mean; q = d * d;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q / n_col + eps);" },
    { body = "y = (x - mean) * r * gamma + beta;" },
  },
  sizes   = { { row = 16384, col = 4096 }, { row = 65536, col = 768 } },
}
