-- The nearest of a million keys.
local s = require "sectile"
return s.kernel {
  name    = "nearest_key",
  dims    = { "query", "key" },
  inputs  = {
    s.array("q", "f32x2", s.row_major, { dims = { "query" } }),
    s.array("k", "f32x2", s.row_major, { dims = { "key" } }),
  },
  outputs = { s.array("at", "i32", s.row_major, { dims = { "query" }, reduce = "argmin" }) },
  body    = "float x = q.x - k.x, y = q.y - k.y; at = fmaf(x, x, y * y);",
  sizes   = { { query = 6, key = 1000000 } },
}
