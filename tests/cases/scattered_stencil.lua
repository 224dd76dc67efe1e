-- Rows of a stencil's output go where an index array says: where a line lies in a sector is not
-- known before that is read.
local s = require "sectile"

return s.kernel {
  name = "scattered_stencil",
  dims = { "i", "j" },
  inputs = {
    s.array("a", "f32", s.row_major,
      { taps = { up = { -2, 2 }, right = { 0, 2 } }, border = "zero" }),
    s.array("row", "i32", s.row_major, { dims = { "i" }, fill = "identity" }),
  },
  outputs = { s.array("b", "i64", s.row_major, { dims = { "m", "j" }, at = { "row", "j" } }) },
  body = "b = (int)(a + up + right) & 63;",
  sizes = { { i = 6, j = 224, m = 11 } },
}
