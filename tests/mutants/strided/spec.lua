local s = require "sectile"
return s.kernel {
  name = "m_strided",
  dims = { "i", "j" },
  inputs = {
    s.array("a", "i16", nil, { dims = { "i", "h" }, at = { "i", "3 * j + 1" },
                               extents = { "i", "3 * j + 2" } }),
    s.array("c", "i16", nil, { at = { "i", "n_j - 1 - j" } }),
  },
  outputs = { s.array("b", "i32") },
  body = "b = a * 256 + c;",
  also = {
    cuda = "k.cu", kernel = "k", args = { { "n_i", "i64" }, { "n_j", "i64" }, "a", "c", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
    block = { 32, 4 }, grid = { "(n_j + 31) // 32", "(n_i + 3) // 4" },
    where = { "n_i <= 200000" },
  },
  sizes = { { i = 1024, j = 1000 } },
}
