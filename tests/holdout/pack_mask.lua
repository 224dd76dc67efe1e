-- Eight truths to a byte.
local s = require "sectile"
local taps, terms = {}, { "(m ? 1 : 0)" }
for k = 1, 7 do
  taps["m" .. k] = { k }
  terms[#terms + 1] = ("(m%d ? %d : 0)"):format(k, 1 << k)
end
return s.kernel {
  name    = "pack_mask",
  dims    = { "i" },
  inputs  = { s.array("m", "bool", s.row_major, { at = { "8 * i" }, extents = { "8 * i" },
                                                 taps = taps }) },
  outputs = { s.array("o", "u8") },
  body    = "o = " .. table.concat(terms, " | ") .. ";",
  sizes   = { { i = 12000000 } },
}
