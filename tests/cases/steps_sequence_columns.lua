-- Columns that several blocks have, in a sequence of launches, in place and with kept elements; an
-- index of an extreme, and a step that assigns an output before the last reduction.
-- try: rows threads=256 lanes=32 vec=4 blocks=1 hold=none items=4 evict=none grid=528
-- try: rows threads=512 lanes=64 vec=1 blocks=1 hold=none items=16 evict=none grid=528
local s = require "sectile"
return s.kernel {
  name    = "steps_sequence_columns",
  dims    = { "n", "c" },
  over    = "n",
  inputs  = { s.array("g", "f32", s.row_major, { dims = { "c" } }) },
  outputs = {
    s.array("x", "f32", s.row_major, { inout = true }), s.array("y", "f16"),
    s.array("top", "i64", s.row_major, { dims = { "c" } }),
  },
  steps   = {
    { reduce = { m = "max", at = "argmax" }, body = "m = x; at = x;" },
    { body = "y = x - m;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { body = "top = at;" },
    { body = "if (x < m) x = expf(x - m) / t * g; else keep(x);" },
  },
  sizes   = { { n = 70000, c = 36 } },
}
