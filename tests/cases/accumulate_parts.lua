-- More bins than shared memory has: in parts, and straight into the array.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_parts",
  dims    = { "i" },
  inputs  = { s.array("key", "u32") },
  outputs = {
    s.array("n", "i32", s.row_major, { dims = { "bin" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "n = 3;",
  sizes   = { { i = 1 << 20, bin = 100000 } },
}
