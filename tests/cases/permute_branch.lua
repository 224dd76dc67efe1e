-- Takes one of two ways by the element's value, so that none may be computed of no element.
local s = require "sectile"
return s.kernel {
  name = "permute_branch",
  dims = { "i", "j", "k" },
  inputs = { s.array("a", "i32x2") },
  outputs = { s.array("o", "f32x2", s.row_major, { dims = { "k", "i", "j" } }) },
  body = [[
    unsigned int n = 1u;
    for (int turn = 0; turn < 4; turn++) n = n * 3u + (unsigned int)i * (unsigned int)a.x;
    if (a.y / ((a.x & 15) + 1) < (int)(unsigned int)k - a.y) {
      o.x = 1.5f / (float)n; o.y = 2.0f;
    } else {
      o.x = (float)n; o.y = (float)a.x;
    }
  ]],
  sizes = { { i = 35, j = 57, k = 64 } },
}
