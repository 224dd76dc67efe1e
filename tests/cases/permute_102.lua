-- A permute that keeps its rows.
local s = require "sectile"
return s.kernel {
  name = "p021",
  dims = { "i", "j", "k" },
  inputs = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "j", "i", "k" } }) },
  body = "b = a;",
  sizes = { { i=384, j=384, k=368 } },
}
