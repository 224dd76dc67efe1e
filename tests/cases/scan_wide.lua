-- Running sums of records of 64 bytes: 1,024 threads have no room to leave each other so much.
local s = require "sectile"

local wide = s.record { { "p", "u64", 3 }, { "y", "i64", 5 } }

return s.kernel {
  name = "scan_wide",
  dims = { "i" },
  inputs = { s.array("a", "i8") },
  outputs = { s.array("o", wide, s.aos, { scan = "sum", exclusive = true }) },
  body = [[
    for (int k = 0; k < 3; k++) o.p[k] = a + k;
    for (int k = 0; k < 5; k++) o.y[k] = a * k;
  ]],
  sizes = { { i = 196608 } },
}
