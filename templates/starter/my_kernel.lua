-- A spec describes the computation for one element and the memory layout of the arrays.
--
--   sectile check my_kernel                  check it
--   sectile tune my_kernel --budget 60s      find the fastest kernels
--   sectile emit my_kernel.lua -o my_kernel.h    write the header
--
-- This one transposes a matrix. A naive kernel accesses one of the two arrays along columns, and
-- touches 32 sectors per request where 4 suffice.
local s = require "sectile"

return s.kernel {
  name    = "my_kernel",      -- of the function in the header
  dims    = { "row", "col" }, -- the index space, slowest first

  -- Arrays of f32; also i8 to i64, u8 to u64, f16, bf16, f64, vectors (f32x4), bool, and records:
  -- s.record { { "x", "f32" }, { "y", "f32" } }.
  inputs  = { s.array("a", "f32") },

  -- `dims` is the order of its dimensions in memory. s.row_major is one layout; others are s.aos,
  -- s.soa, s.aosoa { lanes = 32 }, s.pitched, and your own: s.layout "my_layout.lua".
  outputs = { s.array("b", "f32", s.row_major, { dims = { "col", "row" } }) },

  -- CUDA code for one element; arrays and dimensions are referred to by name.
  body    = "b = a;",

  -- The sizes to tune for. The header supports all sizes.
  sizes   = { { row = 4096, col = 4096 } },
}
