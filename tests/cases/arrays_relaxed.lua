-- An array in each record, reduced to a value in a loop and written by another; another order.
local s = require "sectile"
local cell = s.record { { "q", "f32", 9 }, { "kind", "u8" }, { "w", "e4m3", 3 }, { "t", "f16", 2 } }
return s.kernel {
  name = "arrays_relaxed",
  dims = { "row", "col" },
  scalars = { { "omega", "f32" } },
  inputs = { s.array("a", cell, s.choose { s.aos, s.soa, s.aosoa { lanes = 16 } }) },
  outputs = { s.array("o", cell, s.soa) },
  body = [==[
    const int opposite[9] = { 0, 3, 4, 1, 2, 7, 8, 5, 6 };
    const int kQ = 9;
    float sum = 0.0f;
    for (int n = 0; n < kQ; n++) sum += a.q[n];
    if (a.kind % 2 == 0) {
      for (int n = 0; n < kQ; n++) o.q[opposite[n]] = a.q[n];
    } else {
      for (int n = 0; n <= 8; ++n) o.q[n] = fmaf(omega, sum, a.q[n]);
      o.q[3] *= 2.0f;
    }
    o.kind = a.kind;
    for (int n = 0; n < 3; n++) o.w[n] = a.w[2 - n];
    o.t[1] = a.t[0]; o.t[0] = a.t[1];
  ]==],
  sizes = { { row = 300, col = 77 }, { row = 128, col = 256 } },
}
