-- Small and packed types, pairs and arrays of records: how their elements are taken apart, put
-- together and converted.
local function spec(inputs, outputs, body)
  return ([[
local s = require "sectile"
return s.kernel { name = "k", dims = { "row", "col" }, inputs = { $inputs },
  outputs = { $outputs }, body = "$body", sizes = { { row = 40, col = 256 } } }
]]):gsub("%$(%w+)", { inputs = inputs, outputs = outputs, body = body })
end

local vec8 = "map threads=128 items=1 vec=8 evict=none"
local unrolled = "map threads=128 items=1 vec=8 unroll=1 evict=none"

return {
  specs = {
    int4 = spec('s.array("q", "i4"), s.array("g", "f32", s.row_major, '
      .. '{ at = { "row", "col // 128" }, extents = { "row", "(col + 127) // 128" } })',
      's.array("w", "f16")', "w = g * q;"),
    bits = spec('s.array("m", "u1"), s.array("x", "u16")', 's.array("y", "u16")',
      "y = m ? x : 0;"),
    fp8 = spec('s.array("x", "f32")', 's.array("y", "e4m3")', "y = x * 100.0f;"),
    from_fp8 = spec('s.array("x", "e4m3"), s.array("z", "e5m2")', 's.array("y", "f32")',
      "y = x + z;"),
    bools = spec('s.array("a", "bool"), s.array("b", "bool")', 's.array("c", "bool")',
      "c = a && !b;"),
    pairs = spec('s.array("a", "bf16x2")', 's.array("c", "bf16x2")', "c.x = a.y; c.y = -a.x;"),
    arrays = spec('s.array("a", s.record { { "q", "f32", 5 }, name = "cell" })',
      's.array("o", s.record { { "q", "f32", 5 }, name = "cell" }, s.soa)',
      "for (int n = 0; n < 5; n++) o.q[n] = a.q[4 - n];"),
  },
  candidates = {
    int4 = { "int4", unrolled },
    bits = { "bits", unrolled },
    fp8 = { "fp8", vec8 },
    from_fp8 = { "from_fp8", vec8 },
    bools = { "bools", vec8 },
    pairs = { "pairs", "map threads=128 items=1 vec=4 evict=none" },
    arrays = { "arrays", "map threads=128 items=1 vec=1 load=straight team=block evict=none" },
  },
  mutants = {
    { "index", "int4", "source", "(e >> 1), e & 1,", "(e >> 1), 0," },
    { "index", "int4", "source", "q_v[item][e / kInside]", "q_v[item][e % kInside]" },
    { "value", "int4", "source", "return (int)((unsigned int)byte", "return ((unsigned int)byte" },
    { "index", "int4", "source", "(32 - kBits - kBits * at)", "(32 - kBits * at)" },
    { "value", "bits", "source", "((1 << kBits) - 1)", "3" },
    { "index", "bits", "source", "byte >> kBits * at", "byte >> 7 - at" },
    { "value", "fp8", "source", "bits = (unsigned char)pair;",
      "bits = (unsigned char)(pair >> 8);" },
    { "rounding", "fp8", "source", "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32" },
    { "rounding", "from_fp8", "source", "cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2" },
    { "value", "from_fp8", "source", "(bits << 8)", "(bits << 7)" },
    { "index", "bools", "source", "b_v[item][e]", "b_v[item][e ^ 1]" },
    { "value", "pairs", "source", "c.y = -a.x;", "c.y = a.x;" },
    { "index", "arrays", "source", "a.q[4 - n]", "a.q[n]" },
  },
}
