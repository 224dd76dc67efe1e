-- Record members set one by one: the compiler stores a vector of which it has one word, and the
-- other words right after it. The naive variant was refused as if it left what was never set.
local s = require "sectile"
local fields = s.record { { "flag", "f32x4" }, { "q", "i32" }, { "id", "i32x4" } }
return s.kernel {
  name = "member_by_member",
  dims = { "i" },
  inputs = { s.array("c", "f16", s.row_major, { at = { "min(i, 7)" }, extents = { "8" } }) },
  outputs = { s.array("o", fields, s.aos) },
  body = [[
    o.flag.x = 3.0f;
    o.flag.y = (unsigned int)i < (unsigned int)i ? (float)c : (float)c;
    o.flag.z = (float)c + (float)c;
    o.flag.w = (float)c + (float)i;
    o.q = i;
    o.id.x = i; o.id.y = 2 * i; o.id.z = 3 * i; o.id.w = 4 * i;
  ]],
  sizes = { { i = 16384 } },
}
