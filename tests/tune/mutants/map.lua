-- Arrays whose rows start anywhere: vectors in neighbouring rows, and from where a word starts.
local padded = [[
local s = require "sectile"
return s.kernel { name = "padded", dims = { "i", "j", "l" },
  inputs = { s.array("a", "f32", s.strided { "(l + 3) * (j + 1)", "l + 3", 1 }) },
  outputs = { s.array("b", "f32", s.strided { "(l + 1) * j", "l + 1", 1 }) }, body = "b = a;",
  sizes = { { i = 7, j = 13, l = 130 } } }
]]

local bytes = [[
local s = require "sectile"
return s.kernel { name = "bytes", dims = { "i", "j" },
  inputs = { s.array("a", "u8", s.strided { "j + 3", 1 }) },
  outputs = { s.array("b", "u8", s.strided { "j + 1", 1 }) }, body = "b = a;",
  sizes = { { i = 33, j = 202 } } }
]]

return {
  specs = { padded = padded, bytes = bytes },
  candidates = {
    march = { "padded",
      "map threads=128 items=4 vec=1 load=straight rows=whole march=rows evict=none" },
    aligned = { "bytes", "map threads=128 items=2 vec=16 load=straight rows=aligned evict=none" },
  },
  mutants = {
    { "bound", "march", "map_kernel.cu", "$(beyond)", "vector >= vectors" },
    { "bound", "march", "source", "(n_j & 3) == 0", "true" },
    { "index", "march", "source", "here * kItems + item", "here * kItems" },
    { "index", "march", "source", "unsigned int counted = rank", "unsigned int counted = item" },
    { "index", "aligned", "map_kernel.cu", "      $(shift_back)\n", "" },
    { "bound", "aligned", "source", "(n_j + 14) >> 4) + n_i", "(n_j + 14) >> 4)" },
    { "bound", "aligned", "source", "if (begin == 0 && kVec <=", "if (kVec <=" },
    { "bound", "aligned", "source", "b_v, begin, n_j - at.j)", "b_v, begin, kVec)" },
    { "bound", "aligned", "source", "b_v, begin, n_j - at.j)", "b_v, 0, n_j - at.j)" },
    { "bound", "aligned", "source", " && n_j - at.j > kVec", "" },
  },
}
