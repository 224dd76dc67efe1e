-- Softmax in place of what a mask lets through; masked elements, and rows that are masked as a
-- whole, stay as they were. Scores of attention over padded sequences.
local s = require "sectile"

return s.kernel {
  name    = "masked_softmax",
  dims    = { "row", "col" },
  inputs  = { s.array("mask", "bool", s.row_major, { fill = "prefix" }) },
  outputs = { s.array("x", "f32", s.row_major, { inout = true }) },
  steps   = {
    { reduce = { m = "max" }, body = "m = mask ? x : -3.4e38f;" },
    { reduce = { t = "sum" }, body = "t = mask ? expf(x - m) : 0.0f;" },
    { row = { r = "f32" }, body = "r = 1.0f / t;" },
    { body = [[
      if (mask) {
        x = expf(x - m) * r;
      } else {
        keep(x);
      }
    ]] },
  },
  sizes   = {
    { row = 16384, col = 4096 }, { row = 65536, col = 1000 }, { row = 1024, col = 65536 },
  },
}
