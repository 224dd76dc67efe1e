-- No input is read, and one layout of it keeps two dimensions apart.
local s = require "sectile"
return s.kernel {
  name = "unread_inputs",
  dims = { "i", "j" },
  inputs = {
    s.array("a", s.record { { "p", "i64" } }, s.choose { s.aos, s.strided { 1, "i + 1" } }),
  },
  outputs = { s.array("o", s.record { { "u", "u64" }, { "v", "u16" } }) },
  body = "o.u = 255; o.v = 2;",
  sizes = { { i = 344, j = 381 } },
}
