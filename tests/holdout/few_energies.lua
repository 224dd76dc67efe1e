-- Energies of a few channels of samples.
local s = require "sectile"
return s.kernel {
  name    = "few_energies",
  dims    = { "channel", "sample" },
  inputs  = { s.array("a", "i16") },
  outputs = { s.array("y", "i64", s.row_major, { dims = { "channel" }, reduce = "sum" }) },
  body    = "y = (long long)a * a;",
  sizes   = { { channel = 8, sample = 96000 } },
}
