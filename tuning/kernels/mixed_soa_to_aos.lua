-- Put mixed records together: 24 bytes (f64, f32, i32, u16, u8, padded).
--
-- The padding bytes of a record belong to the array and may be overwritten.
local s = require "sectile"

local mixed = s.record {
  { "energy", "f64" }, { "weight", "f32" }, { "id", "i32" }, { "cell", "u16" }, { "flags", "u8" },
  name = "mixed",
}

return s.kernel {
  name    = "mixed_soa_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", mixed, s.soa) },
  outputs = { s.array("q", mixed, s.aos) },
  body    = "q = p;",
  sizes   = { { i = 22369600 } }, -- 2^29 bytes in each array, or a little less
}
