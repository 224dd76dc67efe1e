-- A histogram with sums: chunks of the host's arrays go onto what those before have left.
local s = require "sectile"
return s.kernel {
  name = "binned", dims = { "i" }, host = true,
  inputs = { s.array("key", "i32", s.row_major, { fill = "random" }), s.array("x", "f32") },
  outputs = {
    s.array("count", "u32", s.row_major, { dims = { "bin" }, at = { "key" }, accumulate = "add" }),
    s.array("total", "f64", s.row_major, { dims = { "bin" }, at = { "key" }, accumulate = "add" }),
  },
  body = "count = 1; total = x;",
  sizes = { { i = 1 << 22, bin = 256 } },
}
