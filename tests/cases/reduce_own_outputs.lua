-- A short mode in the middle, several outputs: of records, of other widths, and of the index where
-- the largest element is.
local s = require "sectile"
local pair = s.record { { "lo", "f32" }, { "hi", "f32" }, name = "pair" }
local function to(reduce)
  return { reduce = reduce, dims = { "y", "x" } }
end
return s.kernel {
  name    = "reduce_own_outputs",
  dims    = { "y", "k", "x" },
  inputs  = { s.array("a", "f32"), s.array("b", "f32") },
  outputs = {
    s.array("p", pair, s.choose { s.aos, s.soa }, to "min"), s.array("q", "f16", nil, to "max"),
    s.array("at", "i32", nil, to "argmax"), s.array("n", "i64", nil, to "sum"),
  },
  body    = "p.lo = a; p.hi = a + b; q = b; at = a; n = a > b;",
  sizes   = { { y = 37, k = 3, x = 1024 }, { y = 65, k = 5, x = 130 } },
}
