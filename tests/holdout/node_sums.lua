-- What edges bring to their ends, added up.
local s = require "sectile"
return s.kernel {
  name    = "node_sums",
  dims    = { "e" },
  inputs  = {
    s.array("to", "i32", s.row_major, { fill = "random" }),
    s.array("w", "f32"),
  },
  outputs = {
    s.array("y", "f32", s.row_major,
      { dims = { "n" }, at = { "to" }, accumulate = "add", inout = true }),
  },
  body    = "y = w;",
  sizes   = { { e = 10000000, n = 200000 } },
}
