-- Records that are scattered in words while the index lies in registers one by one: the index was
-- read back at `item * kVec`, a constant that there is for groups only.
local s = require "sectile"

local pair = s.record { { "x", "u64" }, { "y", "u64" } }

return s.kernel {
  name = "scatter_records",
  dims = { "i" },
  inputs = { s.array("pick", "i32"), s.array("a", pair) },
  outputs = { s.array("o", pair, s.aos, { dims = { "m" }, at = { "pick" } }) },
  body = "o = a;",
  sizes = { { i = 98304, m = 98314 } },
}
