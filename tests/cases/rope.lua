-- Pairs whose halves lie apart, in a layout of the spec's own.
local s = require "sectile"
local pair = s.record { { "lo", "bf16" }, { "hi", "bf16" }, name = "rope_pair" }
local halves = s.layout "halves.lua"
return s.kernel {
  name = "rope_bf16",
  dims = { "token", "head", "d" },
  inputs = {
    s.array("x", pair, halves),
    s.array("cs", "f32", s.row_major, { dims = { "token", "d" } }),
    s.array("sn", "f32", s.row_major, { dims = { "token", "d" } }),
  },
  outputs = { s.array("y", pair, halves) },
  body = "y.lo = x.lo * cs - x.hi * sn; y.hi = x.hi * cs + x.lo * sn;",
  tolerance = 1e-2,
  sizes = { { token = 16384, head = 32, d = 64 } },
}
