-- Blocks of 4-bit weights behind an index, combined at what they hold.
local s = require "sectile"
local block = s.record { { "q", "i4", 4 }, { "key", "u4", 2 } }
return s.kernel {
  name = "block_through",
  dims = { "i" },
  index = { "bin" },
  inputs = {
    s.array("pick", "i32", s.row_major, { fill = "random" }),
    s.array("t", block, s.aos, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = {
    s.array("sum", "i32", s.row_major,
      { dims = { "b" }, at = { "bin" }, accumulate = "add" }),
  },
  body = "bin = (16 * t.key[1] + t.key[0]) % n_b; sum = t.q[0] * t.q[3] - t.q[i & 3];",
  sizes = { { i = 9000, m = 700, b = 256 } },
}
