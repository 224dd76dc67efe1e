local s = require "sectile"
local p = s.params { type = "f32" }
return s.kernel {
  name = "turn", dims = { "i" },
  inputs = { s.array("a", p.type, s.layout "turned.lua") },
  outputs = { s.array("b", p.type) },
  body = "b = a;",
  sizes = { { i = 4096 } },
}
