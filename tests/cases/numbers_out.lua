-- Pitches of an output that are given at launch.
local s = require "sectile"
return s.kernel {
  name = "numbers_out",
  dims = { "plane", "row", "col" },
  extents = { "pitch", "slice", "first" },
  inputs = { s.array("x", "u8") },
  outputs = { s.array("y", "f32", s.row_major, {
    dims = { "all" }, at = { "n_first + plane * n_slice + row * n_pitch + col" },
    extents = { "first + plane * slice + row * pitch" } }) },
  body = "y = x + n_pitch;",
  sizes = { { plane = 5, row = 50, col = 100, pitch = 128, slice = 6400, first = 64 },
            { plane = 50, row = 5, col = 99, pitch = 4950, slice = 99, first = 3 } },
}
