-- Two signals mixed, a short buffer of audio.
local s = require "sectile"
return s.kernel {
  name    = "few_mixed",
  dims    = { "sample", "channel" },
  scalars = { { "k", "f32" } },
  inputs  = { s.array("a", "f32"), s.array("b", "i16") },
  outputs = { s.array("o", "f32") },
  body    = "o = fmaf(k, b, a);",
  sizes   = { { sample = 8000, channel = 2 } },
}
