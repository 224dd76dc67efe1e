-- Gather rows of 32 bytes by a permuted index: b[i] = table[pick[i]] with eight floats a row.
--
-- A sector a row. A thread that moves a row alone writes half sectors; two lanes that share a row
-- read and write it in one request, whole.
local s = require "sectile"
local row = s.record { { "a", "f32x4" }, { "b", "f32x4" }, name = "row32" }

return s.kernel {
  name    = "gather_rows32",
  dims    = { "i" },
  inputs  = {
    s.array("pick", "i32"),
    s.array("table", row, s.aos, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = { s.array("b", row) },
  body    = "b = table;",
  sizes   = { { i = 1 << 24, m = 1 << 24, pick = "permuted" } },
}
