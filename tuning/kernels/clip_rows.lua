-- Rows whose norm is above a limit are scaled to it, in place; the others are not written. What
-- torch.renorm does to weights, and clipping to the gradients of single samples.
--
-- kernel clip_rows: type=f32
-- kernel clip_rows_bf16: type=bf16
local s = require "sectile"
local p = s.params { type = "f32" }

return s.kernel {
  name    = p.type == "f32" and "clip_rows" or "clip_rows_" .. p.type,
  dims    = { "row", "col" },
  scalars = { { "limit", "f32" } },
  inputs  = {},
  outputs = { s.array("x", p.type, s.row_major, { inout = true }) },
  steps   = {
    { reduce = { q = "sum" }, body = "q = (float)x * x;" },
    { row = { r = "f32" }, body = "r = limit * rsqrtf(q);" },
    { body = [[
      if (r < 1.0f) {
        x = x * r;
      } else {
        keep(x);
      }
    ]] },
  },
  sizes   = { { row = 16384, col = 4096 }, { row = 65536, col = 768 } },
}
