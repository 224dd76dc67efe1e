-- A body that branches, and a scatter: `windows` branched on what it had not loaded.
local s = require "sectile"

return s.kernel {
  name = "scatter_branch",
  dims = { "i" },
  inputs = { s.array("pick", "u64"), s.array("a", "i32") },
  outputs = { s.array("o", "i32", s.row_major, { dims = { "m" }, at = { "pick" } }) },
  body = "if (a < 7) { o = a + (int)i; } else { o = a; }",
  sizes = { { i = 32768, m = 32778 } },
}
