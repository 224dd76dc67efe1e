-- Rows of pages that a table of blocks names: the index array's place is a quotient.
local s = require "sectile"
return s.kernel {
  name = "kv_gather",
  dims = { "token", "head", "d" },
  inputs = {
    s.array("bt", "i32", s.row_major, { dims = { "nb" }, at = { "token // 16" },
      fill = "permuted" }),
    s.array("cache", "bf16", s.row_major, { dims = { "page", "slot", "head", "d" },
      at = { "bt", "token % 16", "head", "d" } }),
  },
  outputs = { s.array("o", "bf16") },
  body = "o = cache;",
  sizes = { { token = 65536, head = 8, d = 128, page = 4096, slot = 16, nb = 4096 } },
}
