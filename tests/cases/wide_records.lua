-- Records that begin at 256 bytes and have 16 of data: sections of them have no padding.
local s = require "sectile"
local wide = s.record { { "y", "f32x4" }, align = 256 }
return s.kernel {
  name = "wide_records",
  dims = { "i" },
  inputs = {
    s.array("a", wide, s.soa), s.array("b", s.record { { "q", "u8" }, { "v", "f32x4" } }),
  },
  outputs = { s.array("o", s.record { { "y", "f32x4" } }) },
  body = "o.y.x = a.y.x; o.y.y = a.y.y + b.v.y; o.y.z = (float)b.q; o.y.w = b.v.w;",
  sizes = { { i = 131072 } },
}
