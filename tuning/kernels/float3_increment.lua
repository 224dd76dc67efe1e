-- Increment every component of an array of float3: 3 million floats as 1 million records of 12
-- bytes.
--
-- Twelve bytes are no vector width: a thread that owns a record cannot move it in one access, a
-- block that owns a tile of records can, and so can threads that forget the records.
local s = require "sectile"

local float3 = s.record { { "x", "f32" }, { "y", "f32" }, { "z", "f32" }, name = "vec3f" }

return s.kernel {
  name    = "float3_increment",
  dims    = { "i" },
  inputs  = { s.array("a", float3, s.aos) },
  outputs = { s.array("b", float3, s.aos) },
  body    = "b.x = a.x + 1.0f; b.y = a.y + 1.0f; b.z = a.z + 1.0f;",
  sizes   = { { i = 1000000 } },
}
