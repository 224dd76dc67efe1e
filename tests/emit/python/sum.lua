local s = require "sectile"

local part = s.record { { "x", "f32" }, { "n", "i32" }, { "y", "f64" }, name = "part" }

return s.kernel {
  name = "sum", -- a function of Python
  dims = { "i" },
  inputs = { s.array("p", part, s.choose { s.soa }), s.array("v", "f32x2") },
  outputs = { s.array("total", "f64", s.row_major, { dims = {}, reduce = "sum" }) },
  body = "total = p.x + p.y + p.n + v.x;",
  sizes = { { i = 4096 } },
}
