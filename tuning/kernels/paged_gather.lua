-- Gather the keys of a batch of sequences from the pages of a cache, as paged attention keeps them:
-- keys[seq, pos] = cache[page[request[seq], pos // 16], pos % 16].
--
-- An index array is read at what another one holds. Each token is a row of 128 halves, 256 bytes;
-- sixteen lanes share one, and both look-ups are L1 hits for most of them.
local s = require "sectile"

local SLOTS = 16 -- tokens of a page

return s.kernel {
  name    = "paged_gather",
  dims    = { "seq", "pos", "d" },
  inputs  = {
    s.array("request", "i32", s.row_major, { dims = { "seq" }, fill = "permuted" }),
    s.array("page", "i32", s.row_major, {
      dims = { "row", "block" }, at = { "request", "pos // " .. SLOTS },
      extents = { "row", ("(pos + %d) // %d"):format(SLOTS - 1, SLOTS) },
    }),
    s.array("cache", "f16", s.row_major, {
      dims = { "pages", "slot", "d" }, at = { "page", "pos % " .. SLOTS, "d" },
      extents = { "pages", SLOTS, "d" },
    }),
  },
  outputs = { s.array("keys", "f16") },
  body    = "keys = cache;",
  sizes   = {
    { seq = 256, pos = 8192, d = 128, row = 256, pages = 1 << 17, page = "permuted" },
  },
}
