-- Copy records of fields of 1 to 8 bytes into another layout: `-p from=soa -p to=aos`.
--
-- Narrow fields ask for little in each access, whatever the layout. A record of 24 bytes ends with
-- a byte of padding, which belongs to the array and may be overwritten.
--
-- Tests and the suite know these by the names of their kernels:
-- kernel mixed_aos_to_soa
-- kernel mixed_soa_to_aos: from=soa to=aos
local s = require "sectile"
local p = s.params { from = "aos", to = "soa" } -- layouts: aos, soa, aosoa

local mixed = s.record {
  { "energy", "f64" }, { "weight", "f32" }, { "id", "i32" }, { "cell", "u16" }, { "flags", "u8" },
  name = "mixed",
}

return s.kernel {
  name    = ("mixed_%s_to_%s"):format(p.from, p.to),
  dims    = { "i" },
  inputs  = { s.array("p", mixed, s[p.from]) },
  outputs = { s.array("q", mixed, s[p.to]) },
  body    = "q = p;",
  sizes   = { { i = 22369600 } }, -- 2^29 bytes in each array, or a little less
}
