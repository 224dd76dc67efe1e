-- Copy records of f32 from one layout into another: `-p fields=3 -p from=soa -p to=aos`.
--
-- One side is coalesced as it is. Written directly, every store of records of 28 bytes touches 28
-- sectors where 4 would do, so a tile of records is put together in shared memory. How many words
-- a record has decides which lanes meet in a bank there: none at 3, 5, 7 and 9, two at 6, four at
-- 12, all of a quarter warp at 16.
--
-- Tests and the suite know these by the names of their kernels:
-- kernel particle_aos_to_aos: to=aos
-- kernel particle_aos_to_soa
-- kernel particle_soa_to_aos: from=soa to=aos
-- kernel particle_aos_to_aosoa: to=aosoa
-- kernel particle_aosoa_to_aos: from=aosoa to=aos
-- kernel particle_aosoa_to_soa: from=aosoa
-- kernel particle_soa_to_aosoa: from=soa to=aosoa
-- kernel record12_aos_to_soa: fields=3
-- kernel record12_soa_to_aos: fields=3 from=soa to=aos
-- kernel record20_aos_to_soa: fields=5
-- kernel record20_soa_to_aos: fields=5 from=soa to=aos
-- kernel record24_aos_to_soa: fields=6
-- kernel record24_soa_to_aos: fields=6 from=soa to=aos
-- kernel record36_aos_to_soa: fields=9
-- kernel record36_soa_to_aos: fields=9 from=soa to=aos
-- kernel record48_aos_to_soa: fields=12
-- kernel record48_soa_to_aos: fields=12 from=soa to=aos
-- kernel record64_aos_to_soa: fields=16
-- kernel record64_soa_to_aos: fields=16 from=soa to=aos
local s = require "sectile"
local p = s.params { fields = 7, from = "aos", to = "soa" } -- layouts: aos, soa, aosoa

local names = { "x", "y", "z", "vx", "vy", "vz", "m" } -- of a particle; then w8, w9 ...
local what = p.fields == #names and "particle" or "record" .. 4 * p.fields
local fields = { name = what }
for k = 1, p.fields do
  fields[k] = { names[k] or "w" .. k, "f32" }
end

return s.kernel {
  name    = ("%s_%s_to_%s"):format(what, p.from, p.to),
  dims    = { "i" },
  inputs  = { s.array("p", s.record(fields), s[p.from]) },
  outputs = { s.array("q", s.record(fields), s[p.to]) },
  body    = "q = p;",
  sizes   = { { i = (1 << 29) // (4 * p.fields) // 64 * 64 } }, -- 2^29 bytes in each array
}
