-- Two outputs whose rows start on different sectors: what aligns the one does not align the other.
local s = require "sectile"
return s.kernel {
  name = "transpose_two",
  dims = { "i", "j" },
  inputs = { s.array("a", "u8", s.col_major), s.array("c", "u8", s.row_major, { dims = { "i" } }) },
  outputs = {
    s.array("o", "u8", s.pitched { pitch = "j + 6" }),
    s.array("w", "u8", s.pitched { align = 64 }),
  },
  body = "o = a; w = a ^ c;",
  sizes = { { i = 256, j = 128 } },
}
