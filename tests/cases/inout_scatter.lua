-- What is added to lies where an index array says.
local s = require "sectile"
return s.kernel {
  name    = "inout_scatter",
  dims    = { "i" },
  inputs  = { s.array("a", "f32"), s.array("pick", "i32", s.row_major, { fill = "permuted" }) },
  outputs = { s.array("o", "f32", s.row_major, { dims = { "m" }, at = { "pick" }, inout = true }) },
  body    = "o += a;",
  sizes   = { { i = 1 << 20, m = 1 << 20 } },
}
