-- Read doubles through an index array: b[i] = table[pick[i]], in order and permuted.
--
-- In order, the accesses are as coalesced as a copy; permuted, each lane's 8 bytes cost a sector
-- of 32. Nothing can mend that, but several loads in flight a thread hide its latency.
local s = require "sectile"

return s.kernel {
  name    = "indirect_f64",
  dims    = { "i" },
  inputs  = {
    s.array("pick", "i32"),
    s.array("table", "f64", s.row_major, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = { s.array("b", "f64") },
  body    = "b = table;",
  sizes   = {
    { i = 10000, m = 10000, pick = "identity" },
    { i = 10000, m = 10000, pick = "permuted" },
    { i = 1 << 24, m = 1 << 24, pick = "identity" },
    { i = 1 << 24, m = 1 << 24, pick = "permuted" },
  },
}
