-- Rows of any length that are mapped: features side by side, a scale a row, the place in a row.
-- try: rows threads=64 lanes=2 vec=1 start=vector hold=none items=4 evict=streaming
local s = require "sectile"
return s.kernel {
  name    = "ragged_map",
  dims    = { "row", "k", "j" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "u32", s.row_major, { dims = { "row" } }),
    s.array("x", "f32", s.row_major, { dims = { "k", "j" } }),
    s.array("scale", "f32", s.row_major, { dims = { "row", "j" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "k", "j" } }) },
  body    = "y = x * scale + (float)(k - ptr);",
  sizes   = { { row = 400, k = 9000, j = 33 } },
}
