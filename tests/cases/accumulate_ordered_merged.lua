-- Floats in one order at shifted rows, so that dimensions are one, which goes beyond the second.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_ordered_merged",
  dims    = { "i", "j" },
  inputs  = { s.array("a", "f32") },
  outputs = {
    s.array("o", "f32", s.row_major, { at = { "i + 1", "j" }, pad = { 3, 0 }, inout = true,
                                       accumulate = "add", deterministic = true }),
  },
  body    = "o = a;",
  sizes   = { { i = 100, j = 37 } },
}
