-- Short rows at a large pitch.
local s = require "sectile"
return s.kernel {
  name = "pitched_rows", dims = { "r", "c" },
  inputs  = { s.array("src", "u8", s.pitched { align = 128 }) },
  outputs = { s.array("dst", "u8", s.pitched { align = 128 }) },
  body = "dst = src;",
  sizes = { { r = 1 << 22, c = 32 } },
}
