-- Ragged rows onto what outputs hold; rows without elements stay as they are, bit for bit.
local s = require "sectile"
local function to(reduce)
  return { dims = { "row" }, reduce = reduce, inout = true }
end
return s.kernel {
  name    = "onto_ragged",
  dims    = { "row", "k" },
  ragged  = { k = "ptr" },
  inputs  = {
    s.array("ptr", "i32", nil, { dims = { "row" } }), s.array("v", "i16", nil, { dims = { "k" } }),
    s.array("w", "f32", nil, { dims = { "k" } }),
  },
  outputs = { s.array("y", "i16", nil, to("sum")), s.array("m", "f32", nil, to("max")) },
  body    = "y = v; m = w;",
  sizes   = { { row = 1000, k = 16000, ptr = "power" }, { row = 3000, k = 9000 } },
}
