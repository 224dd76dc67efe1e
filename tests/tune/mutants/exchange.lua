-- Tiles that are exchanged: a transpose in vectors, and a permute of any rank whose rows start
-- anywhere.
local transpose = [[
local s = require "sectile"
return s.kernel { name = "permuted", dims = { "row", "col" },
  inputs = { s.array("a", "f32", s.row_major) },
  outputs = { s.array("b", "f32", s.col_major) }, body = "b = a;",
  sizes = { { row = 304, col = 208 } } }
]]
local back = [[
local s = require "sectile"
return s.kernel { name = "permuted", dims = { "h", "i", "j", "l" },
  inputs = { s.array("a", "f32", s.row_major) },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "l", "j", "i", "h" } }) },
  body = "b = a;", sizes = { { h = 9, i = 11, j = 7, l = 13 } } }
]]

return {
  specs = { transpose = transpose, back = back },
  candidates = {
    wide = { "transpose", "exchange threads=256 tile=64x64 blocks=out evict=loads" },
    lines = { "back",
      "exchange threads=256 tile=64x64 load=lines start=sector blocks=out evict=none" },
  },
  mutants = {
    { "barrier", "wide", "source", "__syncthreads();", "" },
    { "bound", "wide", "source", "col < n_col && ", "" },
    { "bound", "wide", "source", "if (guarded && col >= n_col) return;", "" },
    { "barrier", "lines", "source", "async_wait<0>();", "" },
    { "index", "lines", "source", "= b_column[x]", "= b_column[x] + 1" },
    { "bound", "lines", "source", " >= kAhead)", " >= 0)" },
    { "bound", "lines", "source", "y < begin || ", "" },
    { "bound", "lines", "source", " || y >= end", "" },
    { "bound", "lines", "source", "from < start + width", "from < start + width - kWord" },
    { "bound", "lines", "source", "(int)min(16ll, ", "(int)max(16ll, " },
  },
}
