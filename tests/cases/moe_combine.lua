-- Few rows, each through an index array, become one: a thread has outputs of its own.
local s = require "sectile"
return s.kernel {
  name    = "moe_combine",
  dims    = { "t", "k", "d" },
  inputs  = {
    s.array("slot", "i32", s.row_major, { dims = { "t", "k" } }),
    s.array("w", "f32", s.row_major, { dims = { "t", "k" } }),
    s.array("e", "bf16", s.row_major, { dims = { "rows", "d" }, at = { "slot", "d" } }),
  },
  outputs = { s.array("y", "bf16", s.row_major, { reduce = "sum", dims = { "t", "d" } }) },
  body    = "y = w * e;",
  sizes   = { { t = 129, k = 2, d = 512, rows = 400, slot = "permuted" } },
}
