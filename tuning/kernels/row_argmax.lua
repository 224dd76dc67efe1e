-- Where the largest element of each row of a matrix is, and how large it is.
--
-- Of equal elements the first counts, NaN never does; an empty row gives -1 and -inf. A partial
-- result is a value with its index, so the order in which rows are read does not matter.
local s = require "sectile"

return s.kernel {
  name    = "row_argmax",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f32") },
  outputs = {
    s.array("at", "i32", s.row_major, { dims = { "row" }, reduce = "argmax" }),
    s.array("top", "f32", s.row_major, { dims = { "row" }, reduce = "max" }),
  },
  body    = "at = a; top = a;",
  sizes   = { { row = 16384, col = 16384 }, { row = 524288, col = 128 } },
}
