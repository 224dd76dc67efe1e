-- Short columns: of the naive variant a thread has one.
local s = require "sectile"
return s.kernel {
  name    = "few_steps",
  dims    = { "y", "x" },
  inputs  = { s.array("a", "f32") },
  outputs = { s.array("o", "f32"), s.array("l", "f32", nil, { dims = { "x" } }) },
  over    = "y",
  steps   = {
    { reduce = { m = "max" }, body = "m = a;" },
    { body = "o = a - m;" },
    { body = "l = m;" },
  },
  sizes   = { { y = 6, x = 900 } },
}
