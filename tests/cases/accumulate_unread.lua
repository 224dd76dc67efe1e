-- A record of which the body names no field, beside a constant that is accumulated.
local s = require "sectile"
local pair = s.record { { "a", "f32" }, { "b", "u16" }, name = "pair" }
return s.kernel {
  name    = "accumulate_unread",
  dims    = { "i" },
  inputs  = { s.array("key", "i32"), s.array("p", pair) },
  outputs = {
    s.array("n", "u32", s.row_major, { dims = { "m" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "n = 2;",
  sizes   = { { i = 5003, m = 40 } },
}
