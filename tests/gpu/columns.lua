-- Sums of columns onto what the output holds, in chunks of rows.
local s = require "sectile"
return s.kernel {
  name = "columns", dims = { "row", "col" }, host = true,
  inputs = { s.array("a", "f32") },
  outputs = {
    s.array("total", "f32", s.row_major, { dims = { "col" }, reduce = "sum", inout = true }),
  },
  body = "total = a;",
  sizes = { { row = 4096, col = 1024 } },
}
