-- RMS norm of rows: divided by the root of the mean square, then scaled by column.
--
-- kernel rms_norm: type=f32
-- kernel rms_norm_bf16: type=bf16
local s = require "sectile"
local p = s.params { type = "f32" }

return s.kernel {
  name    = p.type == "f32" and "rms_norm" or "rms_norm_" .. p.type,
  dims    = { "row", "col" },
  scalars = { { "eps", "f32" } },
  inputs  = {
    s.array("x", p.type), s.array("gamma", p.type, s.row_major, { dims = { "col" } }),
  },
  outputs = { s.array("y", p.type) },
  steps   = {
    { reduce = { q = "sum" }, body = "float v = x; q = v * v;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q / n_col + eps);" },
    { body = "y = x * r * gamma;" },
  },
  sizes   = { { row = 16384, col = 4096 }, { row = 65536, col = 768 } },
}
