-- Rows in one layout of the output, columns in the other, of which a thread has two then.
-- try: rows o=strided(1, i + 8) threads=64 lanes=32 vec=2 start=vector hold=none items=1 evict=none
local s = require "sectile"
return s.kernel {
  name    = "steps_chosen",
  dims    = { "i", "j" },
  inputs  = { s.array("a", "f64") },
  outputs = {
    s.array("o", "f64", s.choose { s.row_major, s.strided { 1, "i + 8" } }),
    s.array("w", "f32", s.strided { 257, 1 }),
  },
  steps   = {
    { reduce = { m = { "max", "f64" } }, body = "m = 1.0;" },
    { body = "w = 2.0f; o = m;" },
  },
  sizes   = { { i = 256, j = 128 } },
}
