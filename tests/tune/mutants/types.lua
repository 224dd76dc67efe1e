-- Small and packed types, pairs and arrays of records: how their elements are taken apart, put
-- together and converted. A conversion that is changed in the device library is changed in the
-- naive variant too, which hides it, so these are changed in one kernel.
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
    ties = spec('s.array("x", "f16")', 's.array("y", "e5m2")', "y = x;"),
    to_f16 = spec('s.array("x", "f32")', 's.array("y", "f16")', "y = x * 0.3f;"),
    to_bf16 = spec('s.array("x", "f32")', 's.array("y", "bf16")', "y = x * 0.3f;"),
    transposed = spec('s.array("x", "f32")', 's.array("y", "f16", s.col_major)', "y = x;"),
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
    fp8_a100 = { "fp8", vec8, device = "a100" },
    ties_a100 = { "ties", vec8, device = "a100" },
    to_f16 = { "to_f16", vec8 },
    to_bf16 = { "to_bf16", vec8 },
    to_f16_t4 = { "to_f16", vec8, device = "t4" },
    transposed = { "transposed", "exchange threads=256 tile=64x64 blocks=out evict=none" },
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
    -- towards 0, in place of to the nearest
    { "rounding", { "int4", "to_f16", "transposed" }, "source", "cvt.rn.f16x2.f32",
      "cvt.rz.f16x2.f32" },
    { "rounding", "to_bf16", "source", "cvt.rn.bf16x2.f32", "cvt.rz.bf16x2.f32" },
    { "rounding", "to_f16_t4", "source", "cvt.rn.f16.f32", "cvt.rz.f16.f32" },
    { "rounding", "fp8_a100", "source", "(1 << (22 - kFraction)) - 1 + even", "0" },
    { "rounding", "ties_a100", "source", " - 1 + even", "" }, -- ties away from 0
    { "index", "bools", "source", "b_v[item][e]", "b_v[item][e ^ 1]" },
    { "value", "pairs", "source", "c.y = -a.x;", "c.y = a.x;" },
    { "index", "arrays", "source", "a.q[4 - n]", "a.q[n]" },
  },
}
