-- The largest half of rows of odd length.
local s = require "sectile"
return s.kernel {
  name = "row_max_f16", dims = { "r", "c" },
  inputs  = { s.array("a", "f16") },
  outputs = { s.array("t", "f16", s.row_major, { dims = { "r" }, reduce = "max" }) },
  body    = "t = a;",
  sizes   = { { r = 400009, c = 257 } },
}
