-- How many keys are 0, 1, ... 255, and the kernel in histogram.cu that is to count them.
local s = require "sectile"

return s.kernel {
  name    = "histogram",
  dims    = { "i" },
  inputs  = { s.array("key", "i32", s.row_major, { fill = "random" }) },
  outputs = {
    s.array("bins", "u32", s.row_major, { dims = { "bin" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "bins = 1;",
  also    = {
    cuda   = "histogram.cu",
    kernel = "histogram",
    args   = { "key", "bins", "n_i" },
    block  = "256",
    grid   = "min((n_i + 255) // 256, 264)",
    where  = { "n_bin == 256", "n_i <= 1000000000" },
  },
  sizes   = { { i = 100000, bin = 256 } },
}
