-- Rows as integers of 8 bits, with a scale a row: its largest magnitude becomes 127.
--
-- kernel quantise_rows: type=f32
-- kernel quantise_rows_bf16: type=bf16
local s = require "sectile"
local p = s.params { type = "f32" }

return s.kernel {
  name    = p.type == "f32" and "quantise_rows" or "quantise_rows_" .. p.type,
  dims    = { "row", "col" },
  inputs  = { s.array("x", p.type) },
  outputs = {
    s.array("q", "i8"), s.array("scale", "f32", s.row_major, { dims = { "row" } }),
  },
  steps   = {
    { reduce = { m = "max" }, body = "m = fabsf(x);" },
    { row = { r = "f32" }, body = "scale = m / 127.0f; r = m > 0.0f ? 127.0f / m : 0.0f;" },
    { body = "q = (int)rintf(x * r);" },
  },
  sizes   = { { row = 16384, col = 4096 }, { row = 65536, col = 1000 } },
}
