-- Pairs of halves, bytes by four, bools and floats of a byte; types by the names of C's headers.
local s = require "sectile"
return s.kernel {
  name = "small_types",
  dims = { "i" },
  scalars = { { "k", "f16x2" }, { "on", "bool" }, { "e", "e4m3" }, { "u", "u8x4" } },
  inputs = {
    s.array("p", "u8x4"), s.array("m", "bool"), s.array("h", "f16x2"), s.array("v", "bf16x2"),
    s.array("q", "i8x4"), s.array("c", "e5m2"),
  },
  outputs = {
    s.array("o", "u8x4"), s.array("f", "bool"), s.array("g", "f16x2"), s.array("w", "bf16x2"),
    s.array("z", "i8x4"), s.array("d", "e4m3"),
  },
  body = [[
    const uint8_t top = (uint8_t)200 + u.w;
    const int32_t n = 3;
    size_t big = size_t(p.x) + uint64_t(n);
    o.x = m ? top : p.y; o.y = p.x; o.z = (uint8_t)(big >> 1); o.w = p.w / 2;
    f = m != on;
    f16x2 t = h;
    for (int32_t step = 0; step < 2; step++) t.x = t.x * k.y;
    g = t;
    w = bf16x2{v.y + h.x, v.x * (float)e};
    z = make_char4(q.w, q.z, q.y, -q.x);
    d = c * 3.0f;
  ]],
  sizes = { { i = 100003 } },
}
