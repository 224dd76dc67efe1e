local s = require "sectile"
return s.kernel {
  name = "m_ints",
  dims = { "i" },
  inputs = { s.array("a", "i32"), s.array("b", "i32"), s.array("c", "i8"), s.array("l", "i64") },
  outputs = {
    s.array("p", "i32"), s.array("q", "i64"), s.array("r", "i32"), s.array("t", "i32"),
  },
  body = [[
    p = (int)((unsigned int)a * 2654435761u >> 7) ^ a / 16;
    q = (long long)a * b;
    r = c % 10;
    t = l > 0x7fffffffLL ? 0x7fffffff : l < -0x80000000LL ? -0x7fffffff - 1 : (int)l;
  ]],
  also = {
    cuda = "k.cu", kernel = "k",
    args = { { "n_i", "i64" }, "a", "b", "c", "l", "p", "q", "r", "t" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
    block = 128, grid = "(n_i + 127) // 128",
  },
  sizes = { { i = 1 << 20 } },
}
