-- A histogram of floats and their sums, by bins that the body computes; two dimensions of places.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_computed",
  dims    = { "i", "j" },
  index   = { "b", "half" },
  inputs  = { s.array("x", "f32"), s.array("w", "i16", s.row_major, { dims = { "j" } }) },
  outputs = {
    s.array("n", "u32", s.row_major, { dims = { "two", "bin" }, at = { "half", "b" },
                                       extents = { "2", "64" }, accumulate = "add" }),
    s.array("t", "i32", s.row_major, { dims = { "bin" }, at = { "2 * b + 1" }, extents = { "128" },
                                       accumulate = "add" }),
  },
  body    = [[
    const float scaled = x * 8.0f + 32.0f;
    b = (int)fminf(fmaxf(scaled, 0.0f), 63.0f);
    half = i % 2;
    n = 1;
    t = w;
    if (!(scaled >= 0.0f && scaled < 64.0f)) keep(n);
  ]],
  sizes   = { { i = 100, j = 1000 } },
}
