-- In place: x[i] = k * y[i] + x[i].
--
-- x is read and written at the same index by the same thread, so it is one argument, `float *x`.
-- What a kernel writes is not read through the read-only path, and stores follow loads.
local s = require "sectile"

return s.kernel {
  name    = "saxpy_in_place",
  dims    = { "i" },
  scalars = { { "k", "f32" } },
  inputs  = { s.array("y", "f32") },
  outputs = { s.array("x", "f32", s.row_major, { inout = true }) },
  body    = "x = fmaf(k, y, x);",
  sizes   = { { i = 1 << 26 } },
}
