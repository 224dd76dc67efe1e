-- Records through shared memory: what is computed of the last vector's missing elements decides a
-- branch.
-- try: map threads=128 items=1 vec=2 load=staged team=warp evict=streaming
local s = require "sectile"
local fields = { { "id", "f64" }, { "q", "i8" }, { "z", "i32" }, { "x", "f64" } }
return s.kernel {
  name = "map_staged_branch",
  dims = { "i" },
  inputs = { s.array("a", s.record { fields[1], fields[2], fields[3], fields[4], packed = true }) },
  outputs = { s.array("o", s.record(fields), s.soa) },
  body = [[
    const double t = __ddiv_rn(a.id - a.id, __dmul_rn(a.x, a.x));
    o.id = sqrt(fabs(a.id));
    o.q = a.q;
    o.x = sqrt(fabs(a.id)) * (a.x + t);
    if (a.id - a.id > trunc(t))
      o.z = (int)((unsigned int)a.z - (unsigned int)(int)fmin(fmax(a.id, -30000.0), 30000.0));
    else
      o.z = a.q;
  ]],
  sizes = { { i = 98304 } },
}
