-- Count: how many of the keys are 0, 1, ... 255, which is bins[key[i]] += 1 for every i.
--
-- Points that fall on one element are added up by atomic operations. On one bin they queue up, on
-- many they spread over the cache, so what the keys hold decides as much as how many there are.
local s = require "sectile"

return s.kernel {
  name    = "histogram",
  dims    = { "i" },
  inputs  = { s.array("key", "i32", s.row_major, { fill = "random" }) },
  outputs = {
    s.array("bins", "u32", s.row_major, { dims = { "bin" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "bins = 1;",
  sizes   = {
    { i = 1 << 26, bin = 256 },
    { i = 1 << 26, bin = 256, key = "constant" },
    { i = 1 << 26, bin = 65536 },
    { i = 1 << 26, bin = 65536, key = "constant" },
  },
}
