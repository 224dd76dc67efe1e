-- Keys of a byte in vectors of 16 that begin anywhere, and values beside them.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_bytes",
  dims    = { "i" },
  inputs  = {
    s.array("key", "u8", s.row_major, { at = { "i + 3" }, extents = { "i" }, pad = 5 }),
    s.array("w", "u32"),
  },
  outputs = {
    s.array("total", "u64", s.row_major, { dims = { "bin" }, at = { "key" }, accumulate = "add" }),
  },
  body    = "total = (unsigned long long)w * w;",
  sizes   = { { i = 40001, bin = 200 } },
}
