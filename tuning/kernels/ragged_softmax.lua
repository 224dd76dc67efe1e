-- Softmax of sequences of different lengths that lie one after the other: sequence i has the
-- elements from offsets[i] to offsets[i + 1] - 1. Attention scores of a batch without padding.
local s = require "sectile"

return s.kernel {
  name    = "ragged_softmax",
  dims    = { "i", "k" },
  ragged  = { k = "offsets" },
  inputs  = {
    s.array("offsets", "i32", s.row_major, { dims = { "i" } }),
    s.array("x", "f32", s.row_major, { dims = { "k" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "k" } }) },
  steps   = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { row = { r = "f32" }, body = "r = 1.0f / t;" },
    { body = "y = expf(x - m) * r;" },
  },
  sizes   = {
    { i = 65536, k = 1 << 26, offsets = "uniform" },
    { i = 65536, k = 1 << 26, offsets = "power" },
    { i = 1 << 20, k = 1 << 26, offsets = "uniform" },
  },
}
