-- An output with a place for each point beside one that accumulates: the naive variant alone.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_beside",
  dims    = { "i" },
  inputs  = { s.array("key", "i32"), s.array("x", "f32") },
  outputs = {
    s.array("y", "f32"),
    s.array("t", "f32", s.row_major, { dims = { "m" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "y = x + 1.0f; t = x;",
  sizes   = { { i = 3001, m = 33 } },
}
