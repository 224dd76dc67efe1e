-- A pitch that is a constant, longer than the rows.
local s = require "sectile"
return s.kernel {
  name = "strided_const", dims = { "r", "c" },
  inputs  = { s.array("src", "f32", s.strided { 1024, 1 }) },
  outputs = { s.array("dst", "f32", s.strided { 1024, 1 }) },
  body = "dst = src;",
  sizes = { { r = 1 << 16, c = 1000 } },
}
