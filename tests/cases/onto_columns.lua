-- Columns reduced onto what an output holds: vectors of it, several of them a thread, each loaded
-- once by the thread that stores it.
local s = require "sectile"
local function to(reduce)
  return { dims = { "col" }, reduce = reduce, inout = true }
end
return s.kernel {
  name    = "onto_columns",
  dims    = { "row", "col" },
  inputs  = { s.array("g", "f32"), s.array("n", "u8") },
  outputs = {
    s.array("grad", "f32", nil, to("sum")), s.array("top", "f32", nil, to("max")),
    s.array("wrapped", "u8", nil, to("sum")),
  },
  body    = "grad = g; top = g; wrapped = n;",
  sizes   = { { row = 10, col = 50000 }, { row = 1000, col = 1028 }, { row = 3, col = 70003 } },
}
