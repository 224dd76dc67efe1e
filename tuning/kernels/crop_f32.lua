-- Cut a window out of a larger image: b[row, col] = a[row + 1, col + 3].
--
-- Rows of the image are 5 floats longer than those of the window, so each starts elsewhere in a
-- word; words are put together from the two they straddle, by a shift that is the same for a warp.
local s = require "sectile"

return s.kernel {
  name    = "crop_f32",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32", s.row_major, { at = { "row + 1", "col + 3" }, pad = { 2, 5 } }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { row = 8192, col = 8192 } },
}
