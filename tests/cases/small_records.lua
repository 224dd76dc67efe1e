-- Records of small types in another layout and in another order of rows; one that is packed.
local s = require "sectile"
local fields = { { "a", "e4m3" }, { "b", "f16x2" }, { "c", "bool" }, { "d", "u8x4" } }
local packed = s.record { { "a", "e4m3" }, { "s", "f16" }, { "c", "bool" }, packed = true }
return s.kernel {
  name = "small_records",
  dims = { "row", "col" },
  inputs = {
    s.array("p", s.record(fields)), s.array("q", packed, s.aos, { dims = { "col", "row" } }),
  },
  outputs = { s.array("o", s.record(fields), s.soa), s.array("r", packed) },
  body = "o = p; r.a = q.c ? q.a : p.a; r.s = q.s + p.b.x; r.c = p.c && !q.c;",
  sizes = { { row = 100, col = 77 }, { row = 128, col = 256 } },
}
