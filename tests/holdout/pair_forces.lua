-- Forces on atoms from a list of sixteen neighbours each.
local s = require "sectile"
return s.kernel {
  name    = "pair_forces",
  dims    = { "atom", "k" },
  inputs  = {
    s.array("near", "i32", s.row_major, { fill = "random" }),
    s.array("p", "f32x4", s.row_major, { dims = { "atom" } }),
    s.array("q", "f32x4", s.row_major, { dims = { "m" }, at = { "near" } }),
  },
  outputs = {
    s.array("fx", "f32", s.row_major, { dims = { "atom" }, reduce = "sum" }),
    s.array("fy", "f32", s.row_major, { dims = { "atom" }, reduce = "sum" }),
    s.array("fz", "f32", s.row_major, { dims = { "atom" }, reduce = "sum" }),
  },
  body    = [[
    float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
    float r2 = 1.0f / (x * x + y * y + z * z + 0.01f), r6 = r2 * r2 * r2;
    float f = p.w * q.w * r6 * (r6 - 0.5f) * r2;
    fx = f * x; fy = f * y; fz = f * z;
  ]],
  sizes   = { { atom = 400000, k = 16, m = 400000 } },
  tolerance = 1e-2,
}
