-- Take mixed records apart: 24 bytes (f64, f32, i32, u16, u8 and a byte of padding more than
-- there are fields).
--
-- Fields of 1 to 8 bytes: the narrow ones ask for little in each access, whatever the layout.
local s = require "sectile"

local mixed = s.record {
  { "energy", "f64" }, { "weight", "f32" }, { "id", "i32" }, { "cell", "u16" }, { "flags", "u8" },
  name = "mixed",
}

return s.kernel {
  name    = "mixed_aos_to_soa",
  dims    = { "i" },
  inputs  = { s.array("p", mixed, s.aos) },
  outputs = { s.array("q", mixed, s.soa) },
  body    = "q = p;",
  sizes   = { { i = 22369600 } }, -- 2^29 bytes in each array, or a little less
}
