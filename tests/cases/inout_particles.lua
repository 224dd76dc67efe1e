-- Some fields of a record are updated, others are not even read.
local s = require "sectile"
local particle = s.record {
  { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, { "vx", "f32" }, { "vy", "f32" }, { "m", "f64" },
}
return s.kernel {
  name    = "inout_particles",
  dims    = { "i" },
  scalars = { { "dt", "f32" } },
  inputs  = {},
  outputs = {
    s.array("p", particle, s.choose { s.aos, s.soa, s.aosoa { lanes = 16 } }, { inout = true }),
  },
  body    = "p.x = fmaf(dt, p.vx, p.x); p.y = fmaf(dt, p.vy, p.y);",
  sizes   = { { i = 1 << 20 } },
}
