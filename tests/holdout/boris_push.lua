-- Particles in electric and magnetic fields: a Boris push, in place.
local s = require "sectile"
local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, { "u", "f32" }, { "v", "f32" }, { "w", "f32" },
  name = "particle_t",
}
local field = s.record {
  { "ex", "f32" }, { "ey", "f32" }, { "ez", "f32" }, { "bx", "f32" }, { "by", "f32" },
  { "bz", "f32" }, name = "field_t",
}
return s.kernel {
  name    = "boris_push",
  dims    = { "i" },
  scalars = { { "h", "f32" } },
  inputs  = { s.array("f", field, s.soa) },
  outputs = { s.array("p", particle, s.aos, { inout = true }) },
  body    = [[
    float u = fmaf(h, f.ex, p.u), v = fmaf(h, f.ey, p.v), w = fmaf(h, f.ez, p.w);
    float tx = h * f.bx, ty = h * f.by, tz = h * f.bz;
    float k = 2.0f / (1.0f + tx * tx + ty * ty + tz * tz);
    float a = u + v * tz - w * ty, b = v + w * tx - u * tz, c = w + u * ty - v * tx;
    u = fmaf(k, b * tz - c * ty, u);
    v = fmaf(k, c * tx - a * tz, v);
    w = fmaf(k, a * ty - b * tx, w);
    p.u = fmaf(h, f.ex, u); p.v = fmaf(h, f.ey, v); p.w = fmaf(h, f.ez, w);
    p.x = fmaf(h, u, p.x); p.y = fmaf(h, v, p.y); p.z = fmaf(h, w, p.z);
  ]],
  sizes   = { { i = 6000000 } },
  tolerance = 1e-3,
}
