-- Chunks of rows that go onto what those before have left (total, top), and onto rows of their own.
local s = require "sectile"
return s.kernel {
  host = true,
  name = "sums", dims = { "row", "col" },
  inputs = { s.array("key", "i32", nil, { fill = "random" }), s.array("v", "f32") },
  outputs = {
    s.array("total", "f32", s.row_major, { dims = { "bin" }, at = { "key" }, accumulate = "add" }),
    s.array("each", "u32", s.row_major,
      { dims = { "row", "bin" }, at = { "row", "key" }, accumulate = "add" }),
    s.array("top", "i32", s.row_major,
      { dims = { "bin" }, at = { "key" }, accumulate = "max", inout = true }),
  },
  body = "total = v; each = 1; top = (int)v;",
  sizes = { { row = 300, col = 40, bin = 16 } },
}
