-- Packed records that begin at any byte, taken apart.
local s = require "sectile"
local r = s.record {
  { "x", "f64" }, { "y", "i32" }, { "z", "u16" }, { "w", "u8" }, name = "rec", packed = true }
return s.kernel {
  name = "map_packed",
  dims = { "i" },
  inputs = {
    s.array("p", r),
  },
  outputs = { s.array("q", r, s.soa) },
  body = "q = p;",
  sizes = { { i = 40004 }, { i = 39936 } }
}
