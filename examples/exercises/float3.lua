-- Every component of an array of float3 plus one, and the kernel in float3.cu that is to do it.
local s = require "sectile"

local float3 = s.record { { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, name = "vec3" }

return s.kernel {
  name    = "increment",
  dims    = { "i" },
  inputs  = { s.array("a", float3, s.aos) },
  outputs = { s.array("b", float3, s.aos) },
  body    = "b.x = a.x + 1.0f; b.y = a.y + 1.0f; b.z = a.z + 1.0f;",
  also    = {
    cuda   = "float3.cu",
    kernel = "increment",
    args   = { "a", "b", "n_i" },
    block  = "256",
    grid   = "(n_i + 255) // 256",
    where  = { "n_i <= 500000000" },
  },
  sizes   = { { i = 100000 } },
}
