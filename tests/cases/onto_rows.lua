-- Rows reduced onto what outputs hold, next to an output that begins anew: blocks that share a row,
-- a record of which each field combines with its own, bytes whose sums wrap.
-- try: reduce threads=512 lanes=512 vec=4 start=vector items=1 outputs=1 blocks=528 evict=none
local s = require "sectile"
local pair = s.record { { "lo", "f16" }, { "hi", "i8" }, name = "pair" }
local function to(reduce, inout)
  return { dims = { "row" }, reduce = reduce, inout = inout }
end
return s.kernel {
  name    = "onto_rows",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "i32"), s.array("h", pair) },
  outputs = {
    s.array("total", "i32", nil, to("sum", true)),
    s.array("p", pair, s.soa, to("max", true)),
    s.array("fresh", "i32", nil, to("sum")), s.array("least", "f16", nil, to("min", true)),
  },
  body    = "total = a; p = h; fresh = a; least = h.lo;",
  sizes   = { { row = 496, col = 300 }, { row = 4, col = 100000 } },
}
