-- Groups of two records end four bytes behind a multiple of eight, so padding by words of a tile's
-- copy would put eight-byte fields off their alignment.
local s = require "sectile"
local fields = s.record { { "x", "u64" }, { "u", "bf16" }, align = 64 }
return s.kernel {
  name = "staged_pad",
  dims = { "i" },
  inputs = { s.array("a", fields, s.aosoa { lanes = 2 }) },
  outputs = { s.array("o", fields, s.aos) },
  body = "o = a;",
  sizes = { { i = 32768 } },
}
