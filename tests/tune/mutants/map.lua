-- Vectors in neighbouring rows of arrays whose rows start anywhere.
local padded = [[
local s = require "sectile"
return s.kernel { name = "padded", dims = { "i", "j", "l" },
  inputs = { s.array("a", "f32", s.strided { "(l + 3) * (j + 1)", "l + 3", 1 }) },
  outputs = { s.array("b", "f32", s.strided { "(l + 1) * j", "l + 1", 1 }) }, body = "b = a;",
  sizes = { { i = 7, j = 13, l = 130 } } }
]]

return {
  specs = { padded = padded },
  candidates = {
    march = { "padded", "map threads=128 items=4 vec=1 load=straight march=rows evict=none" },
  },
  mutants = {
    { "bound", "march", "map_kernel.cu", "$(beyond)", "vector >= vectors" },
    { "bound", "march", "source", "(n_j & 3) == 0", "true" },
    { "index", "march", "source", "here * kItems + item", "here * kItems" },
    { "index", "march", "source", "unsigned int counted = rank", "unsigned int counted = item" },
  },
}
