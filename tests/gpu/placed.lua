-- Arrays of the host and of the device in one kernel (tests/gpu/host.py): chunks of `a` come and
-- chunks of `b` go, while the table, the rows to be read of it and the sums stay on the device.
local s = require "sectile"
return s.kernel {
  name = "placed", dims = { "row", "col" },
  inputs = {
    s.array("a", "f32", s.row_major, { host = true }),
    s.array("t", "f32", s.row_major, { dims = { "m", "col" }, at = { "pick", "col" } }),
    s.array("pick", "i32", s.row_major, { dims = "row" }),
  },
  outputs = {
    s.array("sum", "f32", s.row_major, { inout = true }),
    s.array("b", "f32", s.row_major, { host = true }),
  },
  body = "sum = sum + a; b = a * t;",
  sizes = { { row = 16384, col = 1000, m = 512 } },
}
