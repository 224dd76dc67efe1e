-- Which of 50257 logits is the largest.
local s = require "sectile"
return s.kernel {
  name    = "next_token",
  dims    = { "row", "col" },
  inputs  = { s.array("a", "f16") },
  outputs = { s.array("at", "i32", s.row_major, { dims = { "row" }, reduce = "argmax" }) },
  body    = "at = a;",
  sizes   = { { row = 2048, col = 50257 } },
}
