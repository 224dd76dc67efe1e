-- Softmax of rows: the exponentials of a row's values, divided by their sum.
--
-- kernel softmax: type=f32
-- kernel softmax_bf16: type=bf16
local s = require "sectile"
local p = s.params { type = "f32" }

return s.kernel {
  name    = p.type == "f32" and "softmax" or "softmax_" .. p.type,
  dims    = { "row", "col" },
  inputs  = { s.array("x", p.type) },
  outputs = { s.array("y", p.type) },
  steps   = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = expf(x - m);" },
    { row = { r = "f32" }, body = "r = 1.0f / t;" },
    { body = "y = expf(x - m) * r;" },
  },
  sizes   = {
    { row = 16384, col = 4096 }, { row = 65536, col = 1000 }, { row = 1024, col = 65536 },
  },
}
