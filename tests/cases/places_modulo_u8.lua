-- Bytes whose places start again after 64 rows, out into blocks of four rows.
local s = require "sectile"
return s.kernel {
  name = "places_modulo_u8",
  dims = { "i", "j" },
  inputs = {
    s.array("a", "u8", s.row_major, { at = { "j", "i % 64" }, extents = { "j", "64" } }),
  },
  outputs = {
    s.array("o", "u8", s.row_major, {
      dims = { "p", "q" }, at = { "j // 64", "i * 64 + j % 64" },
      extents = { "(j + 63) // 64", "64 * i" },
    }),
  },
  body = "o = a;",
  sizes = { { i = 1003, j = 517 } },
}
