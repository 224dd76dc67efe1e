-- Two maps of one index space in one launch, one of them in place; the second reads what the first
-- assigned.
local s = require "sectile"
return s.kernel {
  name = "maps",
  dims = { "i" },
  scalars = { { "k", "f32" } },
  inputs = { s.array("x", "f32"), s.array("v", "f32") },
  outputs = { s.array("y", "f32"), s.array("p", "f32", s.row_major, { inout = true }),
              s.array("z", "f16") },
  steps = {
    { body = "float t = k * x; y = t;" },
    { body = [[
      float t = v;
      if (t > y) {
        p = p + t;
      }
    ]] },
    { body = "z = v;" },
  },
  sizes = { { i = 100000 }, { i = 99999 } },
}
