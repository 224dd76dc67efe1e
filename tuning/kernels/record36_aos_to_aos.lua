-- Add to every field of 36-byte records the one behind it.
--
-- Nine words a record: nine sectors a lane's record straddles where two would do, unless staged.
-- Fields depend on each other, so that a record cannot be treated as so many scalars.
local s = require "sectile"

local tensor = s.record {
  { "xx", "f32" }, { "xy", "f32" }, { "xz", "f32" }, { "yx", "f32" }, { "yy", "f32" },
  { "yz", "f32" }, { "zx", "f32" }, { "zy", "f32" }, { "zz", "f32" },
  name = "tensor",
}

return s.kernel {
  name    = "record36_aos_to_aos",
  dims    = { "i" },
  inputs  = { s.array("p", tensor, s.aos) },
  outputs = { s.array("q", tensor, s.aos) },
  body    = [[
    q.xx = p.xx + p.xy; q.xy = p.xy + p.xz; q.xz = p.xz + p.yx; q.yx = p.yx + p.yy;
    q.yy = p.yy + p.yz; q.yz = p.yz + p.zx; q.zx = p.zx + p.zy; q.zy = p.zy + p.zz;
    q.zz = p.zz + p.xx;
  ]],
  sizes   = { { i = 14912512 } }, -- 2^29 bytes in each array, or a little less
}
