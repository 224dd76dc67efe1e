-- Mixed fields put together to records with padding.
local s = require "sectile"
local r = s.record {
  { "x", "f64" }, { "y", "i32" }, { "z", "u16" }, { "w", "u8" }, name = "rec" }
return s.kernel {
  name = "map_together",
  dims = { "i" },
  inputs = {
    s.array("p", r, s.soa),
  },
  outputs = { s.array("q", r) },
  body = "q = p;",
  sizes = { { i = 40004 }, { i = 39936 } }
}
