-- Least of columns, an array of which runs backwards beside one that does not: its vectors were
-- read from where the first element lies.
-- try: reduce threads=512 lanes=4 vec=4 items=1 outputs=1 blocks=264 evict=streaming
local s = require "sectile"
return s.kernel {
  name = "min_backwards",
  dims = { "i", "j" },
  inputs = {
    s.array("a", "i32", s.row_major, { at = { "i", "327 - j" }, extents = { "i", "328" } }),
    s.array("b", "i32", s.row_major),
  },
  outputs = { s.array("o", "i32", s.row_major, { dims = { "j" }, reduce = "min" }) },
  body = "o = a + b;",
  sizes = { { i = 608, j = 328 } },
}
