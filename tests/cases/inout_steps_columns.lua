-- Columns are updated in place, and with them records at the places that an index array gives.
local s = require "sectile"
local record = s.record { { "p", "f32" }, { "n", "i16" }, { "q", "f32" }, name = "rec" }
return s.kernel {
  name    = "inout_steps_columns",
  dims    = { "row", "col" },
  over    = "row",
  inputs  = { s.array("pick", "i32", nil, { dims = { "col" }, fill = "permuted" }) },
  outputs = {
    s.array("a", record, s.choose { s.aos, s.soa }, { inout = true }),
    s.array("c", "i32", nil, { inout = true }),
    s.array("t", "i64", s.row_major, { dims = { "place" }, at = { "pick" }, inout = true }),
  },
  steps   = {
    { reduce = { m = "max", n = { "sum", "i64" } }, body = "m = a.p * a.q; n = c + a.n;" },
    { body = "if (c > 0) c = a.n; else c += 1;" },
    { row = { old = "i64" }, body = "old = t; t = n > 0 ? t + n : t;" },
    { body = "a.p = fminf(a.p, m); a.n = (short)old;" },
  },
  sizes   = { { row = 30, col = 700, place = 700 } },
}
