-- Rows of odd length: vectors from an aligned element on, of which the first and the last hold
-- elements of other rows; a weight for each column, whose rows start elsewhere.
-- try: rows threads=64 lanes=64 vec=8 start=any hold=registers items=2 evict=none
-- try: rows threads=64 lanes=32 vec=8 start=any hold=registers items=4 evict=streaming
local s = require "sectile"
return s.kernel {
  name    = "steps_odd",
  dims    = { "row", "col" },
  inputs  = { s.array("x", "bf16"), s.array("w", "f32", s.row_major, { dims = { "col" } }) },
  outputs = {
    s.array("y", "bf16"), s.array("z", "i8"), s.array("t", "f32", s.row_major, { dims = "row" }),
  },
  steps   = {
    { reduce = { m = "max" }, body = "m = fabsf(x);" },
    { body = "t = m;" },
    { body = "y = x * w / fmaxf(m, 1.0f); z = (signed char)(w * 3.0f);" },
  },
  sizes   = { { row = 300, col = 1001 } },
}
