-- Rows of 4-bit weights, two a byte, with a scale for each group, as halves.
--
-- kernel dequant_int4: type=i4
-- kernel dequant_uint4: type=u4 zero=8
local s = require "sectile"
local p = s.params { type = "i4", zero = 0, group = 128, to = "f16" }

return s.kernel {
  name    = p.type == "i4" and "dequant_int4" or "dequant_uint4",
  dims    = { "row", "col" },
  inputs  = {
    s.array("q", p.type),
    s.array("scale", "f16", s.row_major, {
      at = { "row", ("col // %d"):format(p.group) },
      extents = { "row", ("(col + %d) // %d"):format(p.group - 1, p.group) },
    }),
  },
  outputs = { s.array("w", p.to) },
  body    = p.zero == 0 and "w = scale * q;" or ("w = scale * (q - %d);"):format(p.zero),
  sizes   = { { row = 8192, col = 8192 }, { row = 4096, col = 11008 } },
}
