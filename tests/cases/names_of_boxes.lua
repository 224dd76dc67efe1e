-- Dimensions that are called what a kernel of boxes calls its own variables.
local s = require "sectile"
return s.kernel {
  name = "names_of_boxes", dims = { "at", "row", "column" },
  inputs  = { s.array("a", "u8", s.row_major, { dims = { "row", "at", "column" } }) },
  outputs = { s.array("b", "u8") },
  body    = "b = a;",
  sizes   = { { row = 61, at = 793, column = 3 } },
}
