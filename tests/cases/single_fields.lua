-- Fields of one element each, in arrays of their own: they lie as in a record, but for its padding
-- at the end, which was read.
local s = require "sectile"
local fields = s.record { { "x", "i32" }, { "z", "f32x2" }, { "u", "u8" } }
return s.kernel {
  name = "single_fields",
  dims = { "i" },
  inputs = { s.array("a", fields, s.soa, { at = { "0" }, extents = { "1" } }) },
  outputs = { s.array("o", fields, s.soa) },
  body = "o.x = a.x; o.z = a.z; o.u = a.u;",
  sizes = { { i = 98304 }, { i = 172407 } },
}
