-- An array read from its end.
local s = require "sectile"
return s.kernel {
  name = "reversed", dims = { "i" },
  inputs  = { s.array("a", "f32", s.row_major, { at = { "n_i - 1 - i" } }) },
  outputs = { s.array("b", "f32") },
  body    = "b = a;",
  sizes   = { { i = 60000001 } },
}
