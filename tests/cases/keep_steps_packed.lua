-- Elements of small types are kept in rows that are held as they were loaded.
-- try: rows threads=512 lanes=512 vec=8 start=vector hold=packed items=3 evict=none
local s = require "sectile"
return s.kernel {
  name    = "keep_steps_packed",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "bf16") },
  outputs = {
    s.array("x", "bf16", s.row_major, { inout = true }), s.array("z", "i8"),
    s.array("l", "bf16", s.row_major, { dims = { "row" }, inout = true }),
  },
  steps   = {
    { reduce = { m = "max" }, body = "m = x * a;" },
    { body = "l = fmaxf(l, m); if (m > 3.9f) keep(l);" },
    { body = [[
      x = x - a; z = (signed char)(a * 3.0f);
      if (a < 1.5f) keep(x);
      if (x > 0.0f) keep(z);
    ]] },
  },
  sizes   = { { row = 5, col = 12288 } },
}
