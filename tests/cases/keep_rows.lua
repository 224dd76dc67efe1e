-- Elements are kept in the middle of vectors and at the ends of rows.
-- try: map threads=128 items=8 vec=1 evict=stores
-- try: map threads=512 items=4 vec=2 evict=streaming
local s = require "sectile"
local pair = s.record { { "a", "f32" }, { "b", "i32" } }
return s.kernel {
  name    = "keep_rows",
  dims    = { "i", "j" },
  inputs  = { s.array("x", "f32") },
  outputs = { s.array("o", "f32"), s.array("q", pair, s.soa) },
  body    = "if (x < 1.5f) o = 0.0f; else keep(o); q.a = x; q.b = 1; if (x > 1.25f) keep(q);",
  sizes   = { { i = 1 << 12, j = 1001 } },
}
