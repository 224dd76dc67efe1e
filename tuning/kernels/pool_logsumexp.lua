-- MaxPool3d(2), then log-sum-exp over the channels: a window in steps. What a window becomes is the
-- value of an element, which a row holds from step to step.
local s = require "sectile"

return s.kernel {
  name    = "pool_logsumexp",
  dims    = { "n", "c", "d", "h", "w" },
  over    = "c",
  inputs  = { s.array("x", "f32", s.row_major, {
    window = { 2, 2, 2 }, stride = 2, reduce = "max",
  }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "n", "d", "h", "w" } }) },
  steps   = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { body = "y = m + logf(t);" },
  },
  sizes   = { { n = 4, c = 64, d = 16, h = 64, w = 64 } },
}
