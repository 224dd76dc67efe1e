-- Clamp in place, and write what changes alone: negative x[i] become 0, the others are kept.
--
-- keep() leaves an element as it was: a vector of which all elements are kept is not stored.
local s = require "sectile"

return s.kernel {
  name    = "clamp_negatives",
  dims    = { "i" },
  inputs  = {},
  outputs = { s.array("x", "f32", s.row_major, { inout = true }) },
  body    = [[
    if (x < 0.0f) {
      x = 0.0f;
    } else {
      keep(x);
    }
  ]],
  sizes   = { { i = 1 << 26 } },
}
