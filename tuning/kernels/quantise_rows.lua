-- Rows as integers or floats of 8 bits, with a scale a row: its largest magnitude becomes 127, or
-- the largest e4m3, 448.
--
-- kernel quantise_rows: type=f32
-- kernel quantise_rows_bf16: type=bf16
-- kernel quantise_rows_bf16_e4m3: type=bf16 to=e4m3
local s = require "sectile"
local p = s.params { type = "f32", to = "i8" }

local largest, rounded = "127.0f", "(int)rintf(x * r)"
if p.to == "e4m3" then
  largest, rounded = "448.0f", "x * r"
end

return s.kernel {
  name    = "quantise_rows" .. (p.type == "f32" and "" or "_" .. p.type)
    .. (p.to == "i8" and "" or "_" .. p.to),
  dims    = { "row", "col" },
  inputs  = { s.array("x", p.type) },
  outputs = {
    s.array("q", p.to), s.array("scale", "f32", s.row_major, { dims = { "row" } }),
  },
  steps   = {
    { reduce = { m = "max" }, body = "m = fabsf(x);" },
    { row = { r = "f32" },
      body = ("scale = m / %s; r = m > 0.0f ? %s / m : 0.0f;"):format(largest, largest) },
    { body = ("q = %s;"):format(rounded) },
  },
  sizes   = { { row = 16384, col = 4096 }, { row = 65536, col = 1000 } },
}
