-- Transpose a matrix of bytes.
--
-- One byte a lane would waste three quarters of every access: blocks of 4 x 4 bytes are exchanged
-- in registers, so that all memory is moved in whole words.
local s = require "sectile"

return s.kernel {
  name    = "transpose_u8",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "u8", s.row_major) },
  outputs = { s.array("b", "u8", s.col_major) },
  body    = "b = a;",
  sizes   = { { row = 16384, col = 16384 }, { row = 16383, col = 16383 } },
}
