-- Sum and sum of squares of rows, in one record.
local s = require "sectile"
local st = s.record { { "sum", "f32" }, { "sq", "f32" }, name = "row_stats" }
return s.kernel {
  name = "ln_stats",
  dims = { "row", "col" },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("st", st, s.aos, { dims = { "row" }, reduce = "sum" }) },
  body = "st.sum = x; st.sq = x * x;",
  tolerance = 1e-3,
  sizes = { { row = 16384, col = 8192 } },
}
