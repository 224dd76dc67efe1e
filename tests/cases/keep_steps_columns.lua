-- Elements of columns and of records are kept, and with them elements at the places that an index
-- array gives, which are updated in place where they are not.
-- try: rows a=aos threads=256 lanes=32 vec=2 blocks=1 hold=registers items=1 evict=none
-- try: rows a=soa threads=256 lanes=8 vec=2 blocks=1 hold=registers items=4 evict=none
local s = require "sectile"
local record = s.record { { "p", "f32" }, { "n", "i16" }, name = "rec" }
return s.kernel {
  name    = "keep_steps_columns",
  dims    = { "row", "col" },
  over    = "row",
  inputs  = { s.array("pick", "i32", nil, { dims = { "col" }, fill = "permuted" }) },
  outputs = {
    s.array("a", record, s.choose { s.aos, s.soa }, { inout = true }),
    s.array("c", "i32"),
    s.array("t", "i64", s.row_major, { dims = { "place" }, at = { "pick" }, inout = true }),
    s.array("l", "f32", s.row_major, { dims = { "col" } }),
  },
  steps   = {
    { reduce = { m = "max", n = { "sum", "i64" } }, body = "m = a.p * a.p; n = a.n;" },
    { body = "if (a.n > 0) c = a.n; else keep(c);" },
    { body = "l = m; if (m < 3.0f) keep(l); if (n > 0) t += n; else keep(t);" },
    { body = "a.p = fminf(a.p, m); a.n = 0; if (a.p > 1.5f) keep(a);" },
  },
  sizes   = { { row = 30, col = 704, place = 704 } },
}
