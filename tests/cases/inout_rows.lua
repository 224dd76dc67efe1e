-- Rows of odd lengths in place: vectors lie across rows, and begin 4 bytes after a word.
-- try: map threads=128 items=1 vec=8 load=around rows=across evict=streaming
local s = require "sectile"
return s.kernel {
  name    = "inout_rows",
  dims    = { "i", "j" },
  inputs  = { s.array("y", "f16", s.row_major, { at = { "i", "j + 1" }, pad = { 0, 2 } }) },
  outputs = { s.array("x", "f16", s.row_major, { inout = true }) },
  body    = "x = y > x ? y : x;",
  sizes   = { { i = 1 << 10, j = 1001 } },
}
