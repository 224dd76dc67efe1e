-- Elements that share bytes: rows of any length, groups, a mask of bits, weights behind an index.
local s = require "sectile"
return s.kernel {
  name = "shared_bits",
  dims = { "row", "col" },
  inputs = {
    s.array("q", "i4"),
    s.array("u", "u4", s.row_major, { at = { "row", "col + 3" }, pad = { 0, 3 } }),
    s.array("m", "u1"),
    s.array("pick", "i32", s.row_major, { dims = { "row" }, fill = "random" }),
    s.array("t", "i4", s.pitched { align = 64 },
      { dims = { "m_t", "col" }, at = { "pick", "col" } }),
    s.array("c", "u1", s.row_major, { dims = { "col" } }),
  },
  outputs = { s.array("o", "i16"), s.array("w", "f16") },
  body = "o = m ? 100 * q + u : -t; w = c ? (float)q / 8.0f : 0.0f;",
  sizes = { { row = 300, col = 77, m_t = 50 }, { row = 128, col = 256, m_t = 50 } },
}
