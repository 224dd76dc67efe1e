local s = require "sectile"
return s.kernel {
  name = "m_five",
  dims = { "p", "q", "r", "t", "u" },
  inputs = { s.array("a", "u16") },
  outputs = { s.array("b", "u16", nil, { dims = { "r", "u", "p", "t", "q" } }) },
  body = "b = a;",
  also = {
    cuda = "k.cu", kernel = "k",
    args = { "n_p", "n_q", "n_r", "n_t", "n_u", "a", "b" },
    axes = { MUT = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } },
    block = 128,
    grid = "(n_p * n_q * n_r * n_t * n_u + 127) // 128",
    where = { "n_p * n_q * n_r * n_t * n_u < 2147483648" },
  },
  sizes = { { p = 16, q = 24, r = 8, t = 33, u = 32 } },
}
