-- Permutations of an array's dimensions: `-p perm=201` lets the output have the input's dimension 2
-- first (slowest), then 0, then 1. Rows of scripts/suite/unseen.txt, permutes.txt and cases.txt:
-- kernel p2_f32_odd: perm=10
-- kernel p2_f64_odd: perm=10 type=f64
-- kernel p2_u8_odd: perm=10 type=u8
-- kernel p2_f32_thin: perm=10
-- kernel p2_f32_thin2: perm=10
-- kernel p3_f32_201: perm=201
-- kernel p3_f64_021: perm=021 type=f64
-- kernel p3_f32_120: perm=120
-- kernel p3_f32_210: perm=210
-- kernel p3_f64_102: perm=102 type=f64
-- kernel p3_f32_slab: perm=102
-- kernel p4_f32_3210: perm=3210
-- kernel p4_f64_1032: perm=1032 type=f64
-- kernel p4_f16_2031: perm=2031 type=f16
-- kernel p4_f32_0213: perm=0213
-- kernel p4_f32_0231: perm=0231
-- kernel p4_f16_nhwc: perm=0312 type=f16
-- kernel p4_u8_2031: perm=1302 type=u8
-- kernel p5_f32_41302: perm=41302
-- kernel p5_f64_02143: perm=02143 type=f64
-- kernel p5_f32_30142: perm=30142
-- kernel p6_f32_510243: perm=510243
-- kernel p6_f64_041253: perm=041253 type=f64
-- kernel p6_f32_235014: perm=235014
-- kernel p5_f32_01324: perm=01324
-- kernel p5_f64_01243: perm=01243 type=f64
-- kernel p6_u8_321054: perm=321054 type=u8
-- kernel p6_f16_304215: perm=143025 type=f16
-- kernel p8_f32_17305264: perm=30527461
-- kernel perm_10a: perm=10
-- kernel perm_10b: perm=10
-- kernel perm_10c: perm=10
-- kernel perm_021a: perm=102
-- kernel perm_021b: perm=102
-- kernel perm_021c: perm=102
-- kernel perm_102a: perm=021
-- kernel perm_102b: perm=021
-- kernel perm_102c: perm=021
-- kernel perm_210a: perm=210
-- kernel perm_210b: perm=210
-- kernel perm_210c: perm=210
-- kernel perm_0321a: perm=2103
-- kernel perm_0321b: perm=2103
-- kernel perm_0321c: perm=2103
-- kernel perm_2130a: perm=3021
-- kernel perm_2130b: perm=3021
-- kernel perm_2130c: perm=3021
-- kernel perm_2031a: perm=2031
-- kernel perm_2031b: perm=2031
-- kernel perm_2031c: perm=2031
-- kernel perm_1032a: perm=1032
-- kernel perm_1032b: perm=1032
-- kernel perm_1032c: perm=1032
-- kernel perm_3210a: perm=3210
-- kernel perm_3210b: perm=3210
-- kernel perm_3210c: perm=3210
-- kernel perm_04213a: perm=13204
-- kernel perm_04213b: perm=13204
-- kernel perm_04213c: perm=13204
-- kernel perm_32140a: perm=40321
-- kernel perm_32140b: perm=40321
-- kernel perm_32140c: perm=40321
-- kernel perm_20413a: perm=13042
-- kernel perm_20413b: perm=13042
-- kernel perm_20413c: perm=13042
-- kernel perm_13042a: perm=20413
-- kernel perm_13042b: perm=20413
-- kernel perm_13042c: perm=20413
-- kernel perm_43210a: perm=43210
-- kernel perm_43210b: perm=43210
-- kernel perm_43210c: perm=43210
-- kernel perm_032541a: perm=410325
-- kernel perm_032541b: perm=410325
-- kernel perm_032541c: perm=410325
-- kernel perm_320514a: perm=140532
-- kernel perm_320514b: perm=140532
-- kernel perm_320514c: perm=140532
-- kernel perm_204153a: perm=204153
-- kernel perm_204153b: perm=204153
-- kernel perm_204153c: perm=204153
-- kernel perm_325104a: perm=154032
-- kernel perm_325104b: perm=154032
-- kernel perm_325104c: perm=154032
-- kernel perm_543210a: perm=543210
-- kernel perm_543210b: perm=543210
-- kernel perm_543210c: perm=543210
-- kernel records28_change_places: perm=102
-- kernel permute_5340261: perm=5340261
-- kernel permute_0513246: perm=0513246
local s = require "sectile"
local p = s.params { perm = "10", type = "f32" }

local dims, order, size = {}, {}, {}
for n = 1, #p.perm do
  dims[n] = ("ijklmnopq"):sub(n, n)
  size[dims[n]] = 16
end
for n = 1, #p.perm do
  order[n] = dims[tonumber(p.perm:sub(n, n)) + 1]
end

return s.kernel {
  name    = "permute_" .. p.perm .. "_" .. p.type,
  dims    = order,
  inputs  = { s.array("a", p.type, s.row_major, { dims = dims }) },
  outputs = { s.array("b", p.type) },
  body    = "b = a;",
  sizes   = { size },
}
