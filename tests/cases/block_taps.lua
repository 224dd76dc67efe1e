-- Words of 1-bit cells and their neighbours, beyond the edge none.
local s = require "sectile"
local cells = s.record { { "alive", "u1", 16 } }
return s.kernel {
  name = "block_taps",
  dims = { "row", "col" },
  inputs = {
    s.array("c", cells, s.aos, { border = "zero",
      taps = { north = { -1, 0 }, south = { 1, 0 }, west = { 0, -1 }, east = { 0, 1 } } }),
  },
  outputs = { s.array("n", s.record { { "around", "u8", 16 } }) },
  body = [[
    for (int k = 0; k < 16; k++) {
      const int before = k > 0 ? c.alive[k - 1] : west.alive[15];
      const int after = k < 15 ? c.alive[k + 1] : east.alive[0];
      n.around[k] = before + after + north.alive[k] + south.alive[k];
    }
  ]],
  sizes = { { row = 50, col = 40 } },
}
