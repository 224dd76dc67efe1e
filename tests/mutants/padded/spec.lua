local s = require "sectile"
return s.kernel {
  name = "m_padded",
  dims = { "r", "c" },
  inputs = {
    s.array("a", "f32", s.row_major, { at = { "r + 1", "c + 2" }, pad = { 2, 5 } }),
    s.array("v", "f32", nil, { at = { "r // 4", "c" }, extents = { "(r + 3) // 4", "c" } }),
  },
  outputs = { s.array("b", "f32", s.pitched { align = 128 }) },
  body = "b = a - v;",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { "n_r", { "n_c", "i64" }, { "(n_c + 31) // 32 * 32", "i64" }, "a", "v", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } },
    block = 64, grid = { "n_r", "(n_c + 63) // 64" },
    where = { "n_c <= 4000000" },
  },
  sizes = { { r = 2048, c = 2000 } },
}
