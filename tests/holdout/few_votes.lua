-- Votes of 15,000 for forty names.
local s = require "sectile"
return s.kernel {
  name    = "few_votes",
  dims    = { "i" },
  inputs  = {
    s.array("name", "i32", s.row_major, { fill = "random" }),
    s.array("weight", "i32"),
  },
  outputs = {
    s.array("votes", "i32", s.row_major,
      { dims = { "who" }, at = { "name" }, accumulate = "add", inout = true }),
  },
  body    = "votes = weight & 7;",
  sizes   = { { i = 15000, who = 40 } },
}
