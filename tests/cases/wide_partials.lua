-- Partial results of 48 bytes: 1,024 threads would need more shared memory than a block has.
local s = require "sectile"
return s.kernel {
  name = "wide_partials",
  dims = { "row", "col" },
  inputs = { s.array("a", "f32", s.row_major) },
  outputs = {
    s.array("most", s.record { { "q", "f32", 8 } }, s.aos, { dims = { "row" }, reduce = "max" }),
    s.array("where", "u64", s.row_major, { dims = { "row" }, reduce = { "argmax", "f32" } }),
  },
  body = "for (int k = 0; k < 8; k++) most.q[k] = a * k; where = a;",
  sizes = { { row = 24, col = 5000 } },
}
