-- Some of several neighbouring fields of one type, below their alignment: NVVM 13.0 loads
-- members of packed structs there as if they were aligned.
local s = require "sectile"
local wide = s.record {
  { "t", "u8" }, { "a", "i64" }, { "b", "i64" }, { "c", "i64" }, { "d", "i64" }, packed = true,
}
local narrow = s.record {
  { "t", "u8" }, { "a", "f32" }, { "b", "f32" }, { "c", "f32" }, { "d", "f32" }, { "e", "f32" },
  { "f", "f32" }, { "g", "f32" }, packed = true,
}
return s.kernel {
  name = "packed_fields",
  dims = { "i" },
  inputs = { s.array("p", wide, s.aos), s.array("q", narrow, s.aos) },
  outputs = { s.array("o", "i64", s.row_major), s.array("x", "f32", s.row_major) },
  body = "o = p.a >= 7 ? 7 : p.d; x = q.a + q.d + q.e + q.g;",
  sizes = { { i = 1000003 } },
}
