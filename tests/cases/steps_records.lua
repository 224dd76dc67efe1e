-- Rows of packed records in steps, also as arrays of fields, with an element of a table a row.
local s = require "sectile"

local pair = s.record { { "v", "f32" }, { "w", "f16" }, name = "pair", packed = true }

return s.kernel {
  name    = "steps_records",
  dims    = { "row", "col" },
  scalars = { { "k", "f32" } },
  inputs  = {
    s.array("p", pair, s.choose { s.aos, s.soa }),
    s.array("pick", "i32", s.row_major, { dims = { "row" } }),
    s.array("bias", "f64", s.row_major, { dims = { "m" }, at = { "pick" } }),
  },
  outputs = {
    s.array("o", pair, s.choose { s.aos, s.soa }),
    s.array("n", "u32", s.row_major, { dims = { "row" } }),
  },
  steps   = {
    { reduce = { least = "min", positive = { "sum", "u32" } },
      body = "least = p.v + p.w; positive = p.v > 0.0f;" },
    { row = { d = "f64" }, body = "d = least * k + bias; n = positive;" },
    { body = "o.v = p.v + d; o.w = col == 0 ? p.w : (float)n_col;" },
  },
  sizes   = { { row = 50, col = 96, m = 20 } },
}
