-- How often each value of sixteen bits occurs.
local s = require "sectile"
return s.kernel {
  name    = "histogram_u16",
  dims    = { "i" },
  inputs  = { s.array("key", "u16", s.row_major, { fill = "random" }) },
  outputs = {
    s.array("count", "u32", s.row_major, { dims = { "bin" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "count = 1;",
  sizes   = { { i = 50000000, bin = 65536 } },
}
