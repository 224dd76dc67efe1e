-- A pitch and an offset that are given at launch.
local s = require "sectile"
return s.kernel {
  name = "numbers",
  dims = { "row", "col" },
  extents = { "pitch", "first" },
  inputs = {
    s.array("x", "f32", s.row_major, { dims = { "t" }, at = { "n_first + row * n_pitch + col" },
                                       extents = { "first + row * (pitch + col)" } }),
  },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "row", "ld" }, at = { "row", "col" } }) },
  body = "y = x + n_pitch;",
  sizes = { { row = 500, col = 100, pitch = 128, first = 64, ld = 104 },
            { row = 50, col = 99, pitch = 101, first = 3, ld = 99 } },
}
