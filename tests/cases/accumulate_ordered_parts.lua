-- Floats in one order onto what there is, in parts of the output; bits that all points have beside.
local s = require "sectile"
return s.kernel {
  name    = "accumulate_ordered_parts",
  dims    = { "i" },
  index   = "b",
  inputs  = { s.array("x", "f32"), s.array("y", "u32") },
  outputs = {
    s.array("t", "f32", s.row_major,
      { dims = { "m" }, at = { "b" }, accumulate = "add", deterministic = true, inout = true }),
    s.array("bits", "u32", s.row_major, { dims = { "m" }, at = { "b" }, accumulate = "and" }),
  },
  body    = "b = (y * 2654435761u >> 8) % (unsigned)n_m; "
    .. "t = x; bits = y; if (x > 1.9f) keep(bits);",
  sizes   = { { i = 50000, m = 4001 } },
}
