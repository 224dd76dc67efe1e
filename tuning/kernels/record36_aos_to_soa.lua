-- Take records of 36 bytes apart: one array a field.
--
-- Nine words a record: nine sectors a lane's record straddles where two would do, unless staged.
local s = require "sectile"

local tensor = s.record {
  { "xx", "f32" }, { "xy", "f32" }, { "xz", "f32" }, { "yx", "f32" }, { "yy", "f32" },
  { "yz", "f32" }, { "zx", "f32" }, { "zy", "f32" }, { "zz", "f32" },
  name = "tensor",
}

return s.kernel {
  name    = "record36_aos_to_soa",
  dims    = { "i" },
  inputs  = { s.array("p", tensor, s.aos) },
  outputs = { s.array("q", tensor, s.soa) },
  body    = "q = p;",
  sizes   = { { i = 14912512 } }, -- 2^29 bytes in each array, or a little less
}
