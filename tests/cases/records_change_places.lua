-- Records of 12 bytes, whose rows and columns change places.
local s = require "sectile"
return s.kernel {
  name = "records_change_places", dims = { "i", "k", "l", "m" },
  inputs  = { s.array("a", "f32", s.row_major, { dims = { "i", "l", "k", "m" } }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 1200, k = 128, l = 48, m = 3 } },
}
