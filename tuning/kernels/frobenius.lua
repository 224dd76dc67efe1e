-- A matrix divided by its Frobenius norm: one row of all elements, which no block holds.
--
-- Blocks share it, in a sequence of two launches: each block leaves the sum of its squares in the
-- workspace, and the blocks of the second launch add up what all have left, then divide. The second
-- one goes backwards, so that it begins with what the first one has left in L2.
local s = require "sectile"

return s.kernel {
  name    = "frobenius",
  dims    = { "row", "col" },
  over    = { "row", "col" },
  inputs  = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps   = {
    { reduce = { q = "sum" }, body = "q = x * x;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q);" },
    { body = "y = x * r;" },
  },
  sizes   = { { row = 8192, col = 8192 }, { row = 1000, col = 1000 } },
}
