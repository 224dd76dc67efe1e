-- RMS norm after adding to a residual, both in place: the residual becomes the sum, x its norm.
--
-- A thread loads its elements of a row before it stores them, and no others of these two arrays.
--
-- kernel add_rms_norm: type=f32
-- kernel add_rms_norm_bf16: type=bf16
local s = require "sectile"
local p = s.params { type = "f32" }

return s.kernel {
  name    = p.type == "f32" and "add_rms_norm" or "add_rms_norm_" .. p.type,
  dims    = { "row", "col" },
  scalars = { { "eps", "f32" } },
  inputs  = { s.array("gamma", p.type, s.row_major, { dims = { "col" } }) },
  outputs = {
    s.array("x", p.type, s.row_major, { inout = true }),
    s.array("residual", p.type, s.row_major, { inout = true }),
  },
  steps   = {
    { reduce = { q = "sum" }, body = "float v = x + residual; q = v * v;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q / n_col + eps);" },
    { body = "float v = x + residual; residual = v; x = v * r * gamma;" },
  },
  sizes   = { { row = 16384, col = 4096 }, { row = 65536, col = 768 } },
}
