-- Race a transpose that you have already against those that Sectile writes.
--
-- The kernel is a template of its tile's sides; PAD is a constant that its file leaves open. It
-- counts in ints, so it is right for fewer than 2^31 elements; a header calls the naive variant for
-- more.
local s = require "sectile"

return s.kernel {
  name    = "transpose_own",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("b", "f32", s.row_major, { dims = { "col", "row" } }) },
  body    = "b = a;",
  also    = {
    cuda   = "transpose_own.cu",
    kernel = "transpose<{TILE}, {ROWS}>",
    args   = { "b", "a", "n_col", "n_row" },
    axes   = { TILE = { 16, 32 }, ROWS = { 4, 8, 16 }, PAD = { 0, 1 } },
    block  = { "TILE", "ROWS" },
    grid   = { "(n_col + TILE - 1) // TILE", "(n_row + TILE - 1) // TILE" },
    where  = { "TILE * ROWS <= 256", "n_row * n_col <= 2147483647" },
  },
  sizes   = { { row = 4096, col = 4096 }, { row = 8191, col = 8191 } },
}
