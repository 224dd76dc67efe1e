-- Images channel by channel to pixels with all channels.
local s = require "sectile"
return s.kernel {
  name    = "nchw_to_nhwc",
  dims    = { "n", "h", "w", "c" },
  inputs  = { s.array("a", "f16", s.row_major, { dims = { "n", "c", "h", "w" } }) },
  outputs = { s.array("b", "f16") },
  body    = "b = a;",
  sizes   = { { n = 32, h = 112, w = 112, c = 64 }, { n = 8, h = 224, w = 224, c = 3 } },
}
