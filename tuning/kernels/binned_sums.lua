-- Sums of floats by key, the same bits after every launch: total[key[i]] += x[i] for few keys.
--
-- No atomic operation adds them, as those come in any order: each warp has sums of its own, to
-- which its lanes add one after the other.
local s = require "sectile"

return s.kernel {
  name    = "binned_sums",
  dims    = { "i" },
  inputs  = { s.array("key", "i32", s.row_major, { fill = "random" }), s.array("x", "f32") },
  outputs = {
    s.array("total", "f32", s.row_major,
      { dims = { "bin" }, at = { "key" }, accumulate = "add", deterministic = true }),
  },
  body    = "total = x;",
  sizes   = { { i = 1 << 26, bin = 256 }, { i = 1 << 26, bin = 256, key = "constant" } },
}
