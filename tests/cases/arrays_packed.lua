-- Packed records with an array in another order of elements; sums of arrays; one tap.
local s = require "sectile"
local from = s.record { { "k", "u8" }, { "v", "f32", 3 }, { "h", "bf16", 2 }, packed = true }
local to = s.record { { "v", "f32", 3 }, { "n", "u32", 2 } }
return s.kernel {
  name = "arrays_packed",
  dims = { "row", "col" },
  inputs = { s.array("a", from) },
  outputs = { s.array("t", to, s.soa, { dims = { "col" }, reduce = "sum" }) },
  body = [[
    for (int n = 0; n < 3; n++) t.v[n] = a.v[2 - n];
    t.n[0] = a.k; t.n[1] = a.h[0] > a.h[1];
  ]],
  sizes = { { row = 1000, col = 77 } },
}
