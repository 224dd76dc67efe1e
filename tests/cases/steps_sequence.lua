-- Rows that several blocks have, in a sequence of launches: two values of one launch, one that
-- waits for them, what there is once a row, updated in a launch of its own, and the kernel's names.
-- try: rows threads=256 lanes=256 vec=8 start=vector hold=none items=2 evict=none grid=1056
-- try: rows threads=512 lanes=512 vec=8 start=vector hold=none items=1 evict=none grid=264
local s = require "sectile"
return s.kernel {
  name    = "steps_sequence",
  dims    = { "n", "c", "h" },
  over    = { "n", "h" },
  scalars = { { "share", "f32" } },
  inputs  = { s.array("x", "bf16"), s.array("pass", "f32", s.row_major, { dims = { "c" } }) },
  outputs = {
    s.array("y", "bf16"),
    s.array("workspace", "f32", s.row_major, { dims = { "c" } }),
    s.array("run", "f32", s.row_major, { dims = { "c" }, inout = true }),
  },
  steps   = {
    { reduce = { t = "sum" }, body = "t = x;" },
    { reduce = { hi = "max" }, body = "hi = x;" },
    { row = { mean = "f32" }, body = "mean = t / (n_n * n_h);" },
    { reduce = { q = "sum" }, body = "float d = x - mean; q = d * d;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q / (n_n * n_h) + 1e-5f + fabsf(run));" },
    { row = { k = "f32" }, body = "k = r; run = 0.9f * run + 0.1f * mean;" },
    { body = "workspace = hi - mean;" },
    { body = "y = (x - mean) * k * pass + share;" },
  },
  sizes   = { { n = 19, c = 5, h = 4000 } },
}
