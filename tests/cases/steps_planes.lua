-- Groups of channels, as group norm has them: a row is three dimensions, and weights differ inside.
local s = require "sectile"

return s.kernel {
  name    = "steps_planes",
  dims    = { "image", "group", "channel", "y", "x" },
  over    = { "channel", "y", "x" },
  inputs  = {
    s.array("a", "bf16"), s.array("w", "f32", s.row_major, { dims = { "group", "channel" } }),
  },
  outputs = { s.array("b", "bf16") },
  steps   = {
    { reduce = { t = "sum", q = "sum" }, body = "float v = a; t = v; q = v * v;" },
    { row = { mean = "f32", r = "f32" },
      body = [[float n = (float)n_channel * n_y * n_x;
               mean = t / n;
               r = rsqrtf(fmaxf(q / n - mean * mean, 0.0f) + 0.01f);]] },
    { body = "b = (a - mean) * r * w;" },
  },
  tolerance = 0.02,
  sizes   = { { image = 4, group = 3, channel = 4, y = 16, x = 24 } },
}
