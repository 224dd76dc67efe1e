-- A spec: what one element computes, and how the arrays lie in memory. Sectile finds the way.
--
--   sectile check my_kernel.lua                  is it right?
--   sectile space my_kernel.lua                  what would be tried?
--   sectile tune  my_kernel.lua --budget 60s     try it, keep the winners
--   sectile emit  my_kernel.lua -o my_kernel.h   write the header
local s = require "sectile"

-- Fields in order, laid out as a C struct. Types: i8..i64, u8..u64, f16, bf16, f32, f64, and
-- vectors such as f32x4.
local point = s.record { { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, name = "point" }

-- A layout of your own is a file beside this one. Built in: s.aos, s.soa, s.aosoa { lanes = 32 },
-- s.row_major, s.col_major, s.pitched, s.strided. s.choose { s.aos, s.soa } leaves it to the tuner.
local blocked = s.layout "my_layout.lua"

return s.kernel {
  name    = "my_kernel",
  dims    = { "i" },                                  -- the index space, slowest first
  scalars = { { "k", "f32" } },                       -- given at launch
  inputs  = { s.array("a", point, s.aos) },
  outputs = { s.array("b", point, blocked { lanes = 32 }) },
  body    = "b.x = k * a.x; b.y = k * a.y; b.z = a.z;", -- CUDA, for one element
  sizes   = { { i = 1 << 20 }, { i = 1 << 24 } },     -- tuned one by one
}
