-- Rows of any length that an index array finds, of halves; bytes beside them, in a pitched array.
-- try: map threads=256 items=2 vec=8 load=around rows=across evict=streaming
-- try: map threads=128 items=1 vec=4 load=around rows=across evict=none
local s = require "sectile"
return s.kernel {
  name = "rows_picked",
  dims = { "r", "c" },
  inputs = {
    s.array("pick", "i32", s.row_major, { dims = { "r" }, fill = "random" }),
    s.array("t", "u16", s.row_major,
      { dims = { "m", "c" }, at = { "pick", "c + 1" }, pad = { 0, 2 } }),
    s.array("u", "u8", s.pitched { align = 32 }, { dims = { "r", "c" } }),
  },
  outputs = { s.array("b", "u16") },
  body = "b = t + u;",
  sizes = { { r = 900, c = 45, m = 333 }, { r = 77, c = 31, m = 5 }, { r = 1, c = 333, m = 3 } },
}
