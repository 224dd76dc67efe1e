-- Arrays that are rotated: places that wrap once need no division, at even and odd extents, and
-- others keep theirs (what sources hold: tests/codegen/test_codegen_kernels.c).
local places = {
  once0 = "(x + n_x // 2) % n_x", once1 = "(x + (n_x + 1) // 2) % n_x",
  once2 = "(x + n_x - n_x // 2) % n_x", once3 = "(x + 1) % n_x",
  once4 = "(x + n_x - 1) % n_x", once5 = "(x + n_x // 3) % n_x",
  more0 = "(x + 2 * (n_x // 3)) % n_x", more1 = "(x + 2) % n_x",
  more2 = "(x + (n_x + 2) // 2) % n_x", more3 = "(2 * x + n_x // 2) % n_x",
  more4 = "(x + n_y // 2) % n_x",
}
local specs, candidates = {}, {}
for name, place in pairs(places) do
  specs[name] = ([[
local s = require "sectile"
return s.kernel { name = "$name", dims = { "y", "x" }, body = "b = a;",
  inputs = { s.array("a", "f32", s.row_major, { at = { "(y + n_y // 2) % n_y", "$place" } }) },
  outputs = { s.array("b", "f32") }, sizes = { { y = 1000, x = 1000 } } }
]]):gsub("%$(%w+)", { name = name, place = place })
  candidates[name] = { name, "map threads=256 items=4 vec=1 evict=none" }
end

local strides = "tuning/sectile/strides.lua"
return {
  specs = specs, candidates = candidates,
  mutants = {
    { "bound", "once0", strides, "n * n:le(sum)", "n * n:lt(sum)" },
    { "bound", "once2", strides, "sum + n * sum:lt(0)", "sum + n * sum:le(0)" },
    { "index", "more1", strides, "kit.const_of(shift) == 1", "kit.const_of(shift)" },
  },
}
