-- An input of which the body reads nothing: its tile had no bytes, which no compiler takes.
local s = require "sectile"

local pair = s.record { { "x", "f16" }, { "y", "f16" } }

return s.kernel {
  name = "unread_input",
  dims = { "i" },
  inputs = { s.array("a", pair), s.array("b", pair, s.soa) },
  outputs = { s.array("o", pair) },
  body = "o = a;",
  sizes = { { i = 163840 } },
}
