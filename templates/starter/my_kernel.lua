-- A spec: what one element computes, and how the arrays lie in memory. Sectile finds the way.
--
--   sectile check my_kernel                  is it right?
--   sectile tune my_kernel --budget 60s      try candidates, keep the winners
--   sectile emit my_kernel.lua -o my_kernel.h    write the header
--
-- This one transposes a matrix. Written as it stands, one of its two arrays is read or written
-- along columns, and a warp moves 32 sectors of memory where 4 would do.
local s = require "sectile"

return s.kernel {
  name    = "my_kernel",      -- of the function in the header
  dims    = { "row", "col" }, -- the index space, slowest first

  -- Arrays of f32; also i8 to i64, u8 to u64, f16, bf16, f64, vectors (f32x4), bool, and records:
  -- s.record { { "x", "f32" }, { "y", "f32" } }.
  inputs  = { s.array("a", "f32") },

  -- `dims` says in which order its dimensions lie. s.row_major is one layout; others are s.aos,
  -- s.soa, s.aosoa { lanes = 32 }, s.pitched, and your own: s.layout "my_layout.lua".
  outputs = { s.array("b", "f32", s.row_major, { dims = { "col", "row" } }) },

  -- CUDA, for one element: arrays go by their names, dimensions by theirs.
  body    = "b = a;",

  -- What it is tuned for. The header serves all sizes, and chooses among the kernels it has.
  sizes   = { { row = 4096, col = 4096 } },
}
