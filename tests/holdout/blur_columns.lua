-- A column of nine taps, over planes of half floats.
local s = require "sectile"
local taps, terms = {}, { "0.16f * (float)a" }
for k = -4, 4 do
  if k ~= 0 then
    taps["t" .. k + 4] = { 0, k, 0 }
    terms[#terms + 1] = ("%.3ff * (float)t%d"):format(0.16 - 0.03 * math.abs(k), k + 4)
  end
end
return s.kernel {
  name    = "blur_columns",
  dims    = { "plane", "row", "col" },
  inputs  = { s.array("a", "f16", s.row_major, { taps = taps, border = "clamp" }) },
  outputs = { s.array("b", "f16") },
  body    = "b = " .. table.concat(terms, " + ") .. ";",
  sizes   = { { plane = 3, row = 2160, col = 3840 } },
  tolerance = 1e-2,
}
