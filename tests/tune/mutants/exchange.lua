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
local bytes = [[
local s = require "sectile"
return s.kernel { name = "both", dims = { "row", "col" }, inputs = { s.array("a", "f32") },
  outputs = { s.array("b", "u8"), s.array("c", "u8", s.col_major) }, body = "b = a; c = 2 * a;",
  sizes = { { row = 208, col = 272 } } }
]]
local pairs_of_both = [[
local s = require "sectile"
return s.kernel { name = "both", dims = { "row", "col" },
  inputs = { s.array("a", "f32"), s.array("b", "f32", s.col_major) },
  outputs = { s.array("c", "f32"), s.array("d", "f32", s.col_major) },
  body = "c = a + b; d = a - b;", sizes = { { row = 132, col = 204 } } }
]]

return {
  specs = { transpose = transpose, back = back, bytes = bytes, pairs = pairs_of_both },
  candidates = {
    wide = { "transpose", "exchange threads=256 tile=64x64 blocks=out evict=loads" },
    lines = { "back",
      "exchange threads=256 tile=64x64 load=lines start=sector blocks=out evict=none" },
    bytes = { "bytes", "exchange threads=256 tile=64x128 load=16 blocks=out evict=loads" },
    pairs = { "pairs", "exchange threads=256 tile=64x64 blocks=out evict=none" },
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
    { "barrier", "bytes", "source", "__syncthreads();", "" },
    { "index", "bytes", "device/exchange.cuh", "rows[1][w] = __byte_perm(low01, low23, 0x7632);",
      "rows[1][w] = __byte_perm(low01, low23, 0x5410);" },
    { "index", "bytes", "source", "c_columns[e] = c_tile[kept_at(x + e, line)]",
      "c_columns[e] = c_tile[kept_at(x, line)]" },
    { "bound", "bytes", "source", "row < n_row && col < n_col))) break;", "row < n_row))) break;" },
    { "index", "bytes", "source", "a_in[k][e]", "a_in[0][e]" },
    { "barrier", "pairs", "exchange.cu", "    __syncthreads();\n\n    // out: neighbours along $(X",
      "    // out: neighbours along $(X" },
    { "index", "pairs", "source", "b_tile[kept_at(x, y + e)] = d_v[e]",
      "b_tile[kept_at(x, y + e)] = c_v[e]" },
    { "bound", "pairs", "source", "if (guarded && row >= n_row) return;", "" },
  },
}
