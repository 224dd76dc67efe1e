-- The bytes between the fields of an output belong to nobody who writes them.
local s = require "sectile"
return s.kernel {
  name = "scan_gap",
  dims = { "row", "col" },
  inputs = { s.array("a", "i32", s.row_major) },
  outputs = {
    s.array("most", s.record { { "tag", "i8" }, { "value", "i64" } }, s.layout "evens.lua",
      { scan = "max" }),
  },
  body = "most.tag = a; most.value = a;",
  sizes = { { row = 100, col = 300 } },
}
