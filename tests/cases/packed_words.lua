-- Words of packed records of 5 bytes: NVRTC crashed where it split such a load.
local s = require "sectile"
local r = s.record { { "t", "u8" }, { "x", "f32" }, packed = true }
return s.kernel {
  name = "packed_words",
  dims = { "i", "j" },
  inputs = { s.array("a", r, s.pitched { align = 4 }) },
  outputs = { s.array("o", r, s.strided { "j + 3", 1 }) },
  body = "o = a;",
  sizes = { { i = 1003, j = 517 } },
}
