-- Eight modes of 2 to 400.
local s = require "sectile"
return s.kernel {
  name = "p8_f32_17305264", dims = { "i", "j", "k", "l", "m", "n", "o", "p" },
  inputs  = { s.array("a", "f32", s.row_major, {
    dims = { "j", "p", "l", "i", "n", "k", "o", "m" },
  }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 2, j = 3, k = 4, l = 5, m = 7, n = 11, o = 13, p = 400 } },
}
