-- Add to every field of a record the one behind it: `-p fields=5` for records of 20 bytes.
--
-- Fields depend on each other, so that a record cannot be treated as so many scalars, and no
-- vector access divides most sizes of records. The body is made by the script.
--
-- Tests and the suite know these by the names of their kernels:
-- kernel record12_aos_to_aos: fields=3
-- kernel record20_aos_to_aos: fields=5
-- kernel record24_aos_to_aos: fields=6
-- kernel record28_aos_to_aos
-- kernel record36_aos_to_aos: fields=9
-- kernel record48_aos_to_aos: fields=12
-- kernel record64_aos_to_aos: fields=16
local s = require "sectile"
local p = s.params { fields = 7 }

local fields, lines = { name = "record" .. 4 * p.fields }, {}
for k = 1, p.fields do
  fields[k] = { "w" .. k, "f32" }
  lines[k] = ("q.w%d = p.w%d + p.w%d;"):format(k, k, k % p.fields + 1)
end

return s.kernel {
  name    = ("record%d_aos_to_aos"):format(4 * p.fields),
  dims    = { "i" },
  inputs  = { s.array("p", s.record(fields), s.aos) },
  outputs = { s.array("q", s.record(fields), s.aos) },
  body    = table.concat(lines, " "),
  sizes   = { { i = (1 << 29) // (4 * p.fields) // 64 * 64 } }, -- 2^29 bytes in each array
}
