-- Bits that all points of a place have, or some, or an odd number; where the mask says so.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_bits",
  dims    = { "i" },
  inputs  = {
    s.array("key", "i64"), s.array("mask", "u8"), s.array("x", "i32"), s.array("y", "u64"),
  },
  outputs = {
    s.array("all", "i32", s.row_major, { dims = { "m" }, at = { "key" }, accumulate = "and" }),
    s.array("any", "i32", s.row_major, { dims = { "m" }, at = { "key" }, accumulate = "or" }),
    s.array("odd", "u64", s.row_major, { dims = { "m" }, at = { "key" }, accumulate = "xor" }),
    s.array("most", "u64", s.row_major, { dims = { "m" }, at = { "key" }, accumulate = "max" }),
  },
  body    = "if (mask > 127) { all = x; any = x; odd = y; most = y; } "
    .. "else { keep(all); keep(any); keep(odd); keep(most); }",
  sizes   = { { i = 20011, m = 33 } },
}
