-- Elements that an index array finds are added in place.
-- try: windows threads=256 items=8 windows=8
local s = require "sectile"
return s.kernel {
  name    = "inout_gather",
  dims    = { "i" },
  inputs  = {
    s.array("a", "f32", s.row_major, { dims = { "m" }, at = { "pick" } }),
    s.array("pick", "i32", s.row_major, { fill = "permuted" }),
  },
  outputs = { s.array("q", "f32", s.row_major, { inout = true }) },
  body    = "q += a;",
  sizes   = { { i = 1 << 20, m = 1 << 20 } },
}
