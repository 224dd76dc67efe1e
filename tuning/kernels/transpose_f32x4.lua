-- Transpose a matrix of 16-byte elements: each fills a word, so that any row starts on one.
local s = require "sectile"

return s.kernel {
  name    = "transpose_f32x4",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32x4", s.row_major) },
  outputs = { s.array("b", "f32x4", s.col_major) },
  body    = "b = a;",
  sizes   = { { row = 4096, col = 4096 }, { row = 4095, col = 4095 } },
}
