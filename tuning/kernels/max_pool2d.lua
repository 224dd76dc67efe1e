-- MaxPool2d(3, stride = 2, padding = 1) over images of floats: what lies outside is left out. The
-- input has as many elements as the windows reach, 2 * h - 1 and 2 * w - 1; one of 2 * h by 2 * w
-- has extents = { "n", "2 * h", "2 * w" }.
local s = require "sectile"

return s.kernel {
  name    = "max_pool2d",
  dims    = { "n", "h", "w" },
  inputs  = { s.array("x", "f32", s.row_major, {
    window = { 3, 3 }, stride = 2, padding = 1, reduce = "max",
  }) },
  outputs = { s.array("y", "f32") },
  body    = "y = x;",
  sizes   = { { n = 2048, h = 112, w = 112 }, { n = 301, h = 57, w = 75 } },
}
