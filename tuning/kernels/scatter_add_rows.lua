-- Add rows of floats where an index array says: y[pick[i], j] += x[i, j], onto what y holds, as the
-- gradient of a gather of rows does.
--
-- Neighbours of a row are added by one operation of 16 bytes where the device has it (sm_90), so
-- that L2 has a quarter of the operations.
local s = require "sectile"

return s.kernel {
  name    = "scatter_add_rows",
  dims    = { "i", "j" },
  inputs  = {
    s.array("pick", "i32", s.row_major, { dims = { "i" }, fill = "random" }),
    s.array("x", "f32"),
  },
  outputs = {
    s.array("y", "f32", s.row_major,
      { dims = { "m", "j" }, at = { "pick", "j" }, accumulate = "add", inout = true }),
  },
  body    = "y = x;",
  sizes   = { { i = 1 << 18, j = 64, m = 1 << 16 }, { i = 1 << 14, j = 1024, m = 1 << 13 } },
}
