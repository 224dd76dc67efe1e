-- Ragged rows in place: the first elements are held, the rest is read again.
-- try: rows threads=64 lanes=64 vec=8 start=any hold=registers items=1 evict=none
-- try: rows threads=128 lanes=32 vec=8 start=any hold=none items=2 evict=none
local s = require "sectile"
return s.kernel {
  name    = "inout_steps_ragged",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = { s.array("ptr", "i64", s.row_major, { dims = { "row" } }) },
  outputs = {
    s.array("x", "u16", s.row_major, { dims = { "k" }, inout = true }),
    s.array("n", "i32", s.row_major, { dims = { "row" }, inout = true }),
  },
  steps   = {
    { reduce = { m = { "max", "u32" } }, body = "m = x;" },
    { reduce = { c = { "sum", "i32" } }, body = "c = x == m;" },
    { body = "n += c;" },
    { body = "if (x < m) x = (unsigned short)(m - x);" },
  },
  sizes   = { { row = 300, k = 40000, ptr = "power" } },
}
