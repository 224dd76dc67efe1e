-- The greatest of each row into a packed record, which is stored by words of one byte.
local s = require "sectile"
local packed = s.record { { "key", "f32" }, name = "packed", packed = true }

return s.kernel {
  name    = "ragged_packed",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "u32", s.row_major, { dims = { "row" } }),
    s.array("x", "f32", s.row_major, { dims = { "k" } }),
  },
  outputs = { s.array("o", packed, s.soa, { dims = { "row" }, reduce = "max" }) },
  body    = "o.key = x;",
  sizes   = { { row = 192, k = 736 } },
}
