-- The array is read at taps only, of which the body names two; rows are joined with their sums.
local s = require "sectile"
return s.kernel {
  name    = "pool_taps_only",
  dims    = { "y", "x" },
  inputs  = {
    s.array("a", "f32", s.row_major, {
      at = { "4 * y", "x" }, extents = { "4 * y", "x" },
      taps = { middle = { 1, 0 }, last = { 2, 0 }, fourth = { 3, 0 } },
    }),
    s.array("w", "f32"),
  },
  outputs = { s.array("b", "f32"), s.array("c", "f32") },
  body    = "b = middle - last; c = w * last;",
  sizes   = { { y = 301, x = 512 }, { y = 77, x = 131 } },
}
