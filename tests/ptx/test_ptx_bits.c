/* Logic, shifts, fields, permutations, bit counts: against loops over single bits. */
#include "ptx_eval.h"

static const uint64_t corners[] = {0,
                                   1,
                                   2,
                                   4,
                                   5,
                                   8,
                                   15,
                                   16,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   65,
                                   255,
                                   256,
                                   0x1234,
                                   0x3210,
                                   0x7654,
                                   0xba98,
                                   0x8000,
                                   0xffff,
                                   0x55555555,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x123456789abcdef0};

#define WANT(name, expr)                                                                           \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t e) {                           \
    (void)a, (void)b, (void)c, (void)e;                                                            \
    return (uint64_t)(expr);                                                                       \
  }

static int bit(uint64_t v, int64_t i) {
  return i >= 0 && i < 64 ? (int)(v >> i & 1) : 0;
}

/* Bit i of the result is f(i): a value built bit by bit. */
static uint64_t shifted(uint64_t v, int64_t by, int width, int fill) {
  uint64_t out = 0;
  for (int i = 0; i < width; i++) {
    const int64_t from = i - by;
    const int b = from < 0 ? 0 : from >= width ? fill : bit(v, from);
    out |= (uint64_t)b << i;
  }
  return out;
}
WANT(w_and, a &b)
WANT(w_or, a | b)
WANT(w_xor, a ^ b)
WANT(w_not, ~a)
WANT(w_cnot, a == 0)
WANT(w_shl16, shifted(a, (int64_t)b, 16, 0))
WANT(w_shl32, shifted(a, (int64_t)b, 32, 0))
WANT(w_shl64, shifted(a, (int64_t)b, 64, 0))
WANT(w_shr16, shifted(a, -(int64_t)b, 16, 0))
WANT(w_shr32, shifted(a, -(int64_t)b, 32, 0))
WANT(w_shr64, shifted(a, -(int64_t)b, 64, 0))
WANT(w_sar16, shifted(a, -(int64_t)b, 16, bit(a, 15)))
WANT(w_sar32, shifted(a, -(int64_t)b, 32, bit(a, 31)))
WANT(w_sar64, shifted(a, -(int64_t)b, 64, bit(a, 63)))
/* funnel shifts of the 64 bits b:a */
static uint64_t funnel(uint64_t lo, uint64_t hi, int64_t n, bool left) {
  uint64_t out = 0;
  for (int i = 0; i < 32; i++) {
    const int64_t from = left ? 32 + i - n : i + n;
    out |= (uint64_t)(from < 32 ? bit(lo, from) : bit(hi, from - 32)) << i;
  }
  return out;
}
WANT(w_shf_l_wrap, funnel(a, b, (int64_t)(c % 32), true))
WANT(w_shf_r_wrap, funnel(a, b, (int64_t)(c % 32), false))
WANT(w_shf_l_clamp, funnel(a, b, c > 32 ? 32 : (int64_t)c, true))
WANT(w_shf_r_clamp, funnel(a, b, c > 32 ? 32 : (int64_t)c, false))

static uint64_t lut(uint64_t a, uint64_t b, uint64_t c, unsigned table) {
  uint64_t out = 0;
  for (int i = 0; i < 32; i++) {
    out |= (uint64_t)(table >> (bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) & 1) << i;
  }
  return out;
}
WANT(w_lop96, lut(a, b, c, 0x96))
WANT(w_lopca, lut(a, b, c, 0xca))
WANT(w_lop80, lut(a, b, c, 0x80))
WANT(w_lopfe, lut(a, b, c, 0xfe))

static void logic_and_shifts(void **state) {
  (void)state;
  static const eval_case cases[] = {
      {"and.b16 %d, %a, %b", "111", w_and},
      {"and.b32 %d, %a, %b", "333", w_and},
      {"and.b64 %d, %a, %b", "666", w_and},
      {"and.pred %d, %a, %b", "ppp", w_and},
      {"or.b16 %d, %a, %b", "111", w_or},
      {"or.b32 %d, %a, %b", "333", w_or},
      {"or.b64 %d, %a, %b", "666", w_or},
      {"or.pred %d, %a, %b", "ppp", w_or},
      {"xor.b16 %d, %a, %b", "111", w_xor},
      {"xor.b32 %d, %a, %b", "333", w_xor},
      {"xor.b64 %d, %a, %b", "666", w_xor},
      {"xor.pred %d, %a, %b", "ppp", w_xor},
      {"not.b16 %d, %a", "11", w_not},
      {"not.b32 %d, %a", "33", w_not},
      {"not.b64 %d, %a", "66", w_not},
      {"not.pred %d, %a", "pp", w_not},
      {"cnot.b16 %d, %a", "11", w_cnot},
      {"cnot.b32 %d, %a", "33", w_cnot},
      {"cnot.b64 %d, %a", "66", w_cnot},
      {"shl.b16 %d, %a, %b", "113", w_shl16},
      {"shl.b32 %d, %a, %b", "333", w_shl32},
      {"shl.b64 %d, %a, %b", "663", w_shl64},
      {"shr.u16 %d, %a, %b", "113", w_shr16},
      {"shr.b16 %d, %a, %b", "113", w_shr16},
      {"shr.u32 %d, %a, %b", "333", w_shr32},
      {"shr.b32 %d, %a, %b", "333", w_shr32},
      {"shr.u64 %d, %a, %b", "663", w_shr64},
      {"shr.b64 %d, %a, %b", "663", w_shr64},
      {"shr.s16 %d, %a, %b", "113", w_sar16},
      {"shr.s32 %d, %a, %b", "333", w_sar32},
      {"shr.s64 %d, %a, %b", "663", w_sar64},
      {"shf.l.wrap.b32 %d, %a, %b, %c", "3333", w_shf_l_wrap},
      {"shf.r.wrap.b32 %d, %a, %b, %c", "3333", w_shf_r_wrap},
      {"shf.l.clamp.b32 %d, %a, %b, %c", "3333", w_shf_l_clamp},
      {"shf.r.clamp.b32 %d, %a, %b, %c", "3333", w_shf_r_clamp},
      {"lop3.b32 %d, %a, %b, %c, 0x96", "3333", w_lop96},
      {"lop3.b32 %d, %a, %b, %c, 202", "3333", w_lopca},
      {"lop3.b32 %d, %a, %b, %c, 0x80", "3333", w_lop80},
      {"lop3.b32 %d, %a, %b, %c, 0xfe", "3333", w_lopfe},
  };
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 11);
  eval_check(cases, SCT_COUNT(cases), &d);
  eval_data_free(&d);
}

/* ---- fields */

static uint64_t field(uint64_t a, uint64_t pos, uint64_t len, int width, bool is_signed) {
  uint64_t out = 0;
  pos &= 255;
  len &= 255;
  int64_t top = (int64_t)(pos + len) - 1;
  top = top > width - 1 ? width - 1 : top;
  const int fill = is_signed && len > 0 ? bit(a, top) : 0;
  for (int i = 0; i < width; i++) {
    const int b = (uint64_t)i < len && (int64_t)pos + i < width ? bit(a, (int64_t)pos + i) : fill;
    out |= (uint64_t)b << i;
  }
  return out;
}
WANT(w_bfe_u32, field(a, b, c, 32, false))
WANT(w_bfe_s32, field(a, b, c, 32, true))
WANT(w_bfe_u64, field(a, b, c, 64, false))
WANT(w_bfe_s64, field(a, b, c, 64, true))
static uint64_t insert(uint64_t from, uint64_t into, uint64_t pos, uint64_t len, int width) {
  uint64_t out = 0;
  pos &= 255;
  len &= 255;
  for (int i = 0; i < width; i++) {
    const bool inside = (uint64_t)i >= pos && (uint64_t)i < pos + len;
    out |= (uint64_t)(inside ? bit(from, i - (int64_t)pos) : bit(into, i)) << i;
  }
  return out;
}
WANT(w_bfi32, insert(a, b, c, e, 32))
WANT(w_bfi64, insert(a, b, c, e, 64))
static uint64_t ones(uint64_t start, uint64_t n) {
  uint64_t out = 0;
  for (int i = 0; i < 32; i++) {
    out |= (uint64_t)((uint64_t)i >= start && (uint64_t)i < start + n) << i;
  }
  return out;
}
WANT(w_bmsk_clamp, ones(a, b > 32 ? 32 : b))
WANT(w_bmsk_wrap, ones(a % 32, b % 32))
WANT(w_szext_u, field(a, 0, b > 32 ? 32 : b, 32, false))
WANT(w_szext_s, field(a, 0, b > 32 ? 32 : b, 32, true))
WANT(w_szextw_u, field(a, 0, b % 32, 32, false))
WANT(w_szextw_s, field(a, 0, b % 32, 32, true))

/* prmt by strings of bytes */
static uint64_t permuted(uint64_t a, uint64_t b, const int pick[4]) {
  uint8_t bytes[8], out[4];
  const uint32_t lo = (uint32_t)a, hi = (uint32_t)b;
  uint32_t r = 0;
  memcpy(bytes, &lo, 4);
  memcpy(bytes + 4, &hi, 4);
  for (int k = 0; k < 4; k++) {
    out[k] = bytes[pick[k] & 7];
    if (pick[k] & 8) {
      out[k] = out[k] >= 128 ? 255 : 0;
    }
  }
  memcpy(&r, out, 4);
  return r;
}
static uint64_t prmt_selector(uint64_t a, uint64_t b, uint64_t c) {
  const int pick[4] = {(int)(c & 15), (int)(c >> 4 & 15), (int)(c >> 8 & 15), (int)(c >> 12 & 15)};
  return permuted(a, b, pick);
}
WANT(w_prmt, prmt_selector(a, b, c))
/* the named modes by their description in the PTX manual */
static uint64_t prmt_named(uint64_t a, uint64_t b, uint64_t c, char mode) {
  const int n = (int)(c & 3);
  int pick[4];
  for (int k = 0; k < 4; k++) {
    switch (mode) {
    case 'f': /* forward 4 extract */
      pick[k] = n + k;
      break;
    case 'b': /* backward 4 extract */
      pick[k] = (n - k) & 7;
      break;
    case '8': /* replicate byte */
      pick[k] = n;
      break;
    case 'l': /* edge clamp left */
      pick[k] = k > n ? k : n;
      break;
    case 'r': /* edge clamp right */
      pick[k] = k < n ? k : n;
      break;
    default: /* replicate half word */
      pick[k] = (n & 1) * 2 + (k & 1);
      break;
    }
  }
  return permuted(a, b, pick);
}
WANT(w_f4e, prmt_named(a, b, c, 'f'))
WANT(w_b4e, prmt_named(a, b, c, 'b'))
WANT(w_rc8, prmt_named(a, b, c, '8'))
WANT(w_ecl, prmt_named(a, b, c, 'l'))
WANT(w_ecr, prmt_named(a, b, c, 'r'))
WANT(w_rc16, prmt_named(a, b, c, '6'))

static void fields_and_permutations(void **state) {
  (void)state;
  static const eval_case cases[] = {
      {"bfe.u32 %d, %a, %b, %c", "3333", w_bfe_u32},
      {"bfe.s32 %d, %a, %b, %c", "3333", w_bfe_s32},
      {"bfe.u64 %d, %a, %b, %c", "6633", w_bfe_u64},
      {"bfe.s64 %d, %a, %b, %c", "6633", w_bfe_s64},
      {"bfi.b32 %d, %a, %b, %c, %e", "33333", w_bfi32},
      {"bfi.b64 %d, %a, %b, %c, %e", "66633", w_bfi64},
      {"bmsk.clamp.b32 %d, %a, %b", "333", w_bmsk_clamp},
      {"bmsk.wrap.b32 %d, %a, %b", "333", w_bmsk_wrap},
      {"szext.clamp.u32 %d, %a, %b", "333", w_szext_u},
      {"szext.clamp.s32 %d, %a, %b", "333", w_szext_s},
      {"szext.wrap.u32 %d, %a, %b", "333", w_szextw_u},
      {"szext.wrap.s32 %d, %a, %b", "333", w_szextw_s},
      {"prmt.b32 %d, %a, %b, %c", "3333", w_prmt},
      {"prmt.b32.f4e %d, %a, %b, %c", "3333", w_f4e},
      {"prmt.b32.b4e %d, %a, %b, %c", "3333", w_b4e},
      {"prmt.b32.rc8 %d, %a, %b, %c", "3333", w_rc8},
      {"prmt.b32.ecl %d, %a, %b, %c", "3333", w_ecl},
      {"prmt.b32.ecr %d, %a, %b, %c", "3333", w_ecr},
      {"prmt.b32.rc16 %d, %a, %b, %c", "3333", w_rc16},
  };
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 12);
  eval_check(cases, SCT_COUNT(cases), &d);
  eval_data_free(&d);
}

/* ---- counting */

static int count_ones(uint64_t v) {
  int n = 0;
  for (int i = 0; i < 64; i++) {
    n += bit(v, i);
  }
  return n;
}
static uint64_t leading_zeros(uint64_t v, int width) {
  int n = 0;
  while (n < width && bit(v, width - 1 - n) == 0) {
    n++;
  }
  return (uint64_t)n;
}
static uint64_t reversed(uint64_t v, int width) {
  uint64_t out = 0;
  for (int i = 0; i < width; i++) {
    out |= (uint64_t)bit(v, i) << (width - 1 - i);
  }
  return out;
}
/* position of the highest bit that is not the sign, -1 if none */
static int64_t found(uint64_t v, int width, bool is_signed, bool shift) {
  const int sign = is_signed ? bit(v, width - 1) : 0;
  for (int i = width - 1; i >= 0; i--) {
    if (bit(v, i) != sign) {
      return shift ? width - 1 - i : i;
    }
  }
  return -1;
}
static int64_t nth_set(uint64_t mask, uint64_t base, int32_t n) {
  int64_t at = (int64_t)base, left = n < 0 ? -(int64_t)n : n;
  if (base > 31) {
    return -1;
  }
  if (n == 0) {
    return bit(mask, at) ? at : -1;
  }
  for (; at >= 0 && at < 32; at += n < 0 ? -1 : 1) {
    left -= bit(mask, at);
    if (left == 0) {
      return at;
    }
  }
  return -1;
}
WANT(w_popc, count_ones(a))
WANT(w_clz32, leading_zeros(a, 32))
WANT(w_clz64, leading_zeros(a, 64))
WANT(w_brev32, reversed(a, 32))
WANT(w_brev64, reversed(a, 64))
WANT(w_bfind_u32, found(a, 32, false, false))
WANT(w_bfind_s32, found(a, 32, true, false))
WANT(w_bfind_u64, found(a, 64, false, false))
WANT(w_bfind_s64, found(a, 64, true, false))
WANT(w_bfs_u32, found(a, 32, false, true))
WANT(w_bfs_s32, found(a, 32, true, true))
WANT(w_bfs_u64, found(a, 64, false, true))
WANT(w_bfs_s64, found(a, 64, true, true))
WANT(w_fns, nth_set(a, b, (int32_t)c))
WANT(w_sel, c ? a : b)
WANT(w_slct32, (c >> 31) ? b : a)

static void counting_and_selection(void **state) {
  (void)state;
  static const eval_case cases[] = {
      {"popc.b32 %d, %a", "33", w_popc},
      {"popc.b64 %d, %a", "36", w_popc},
      {"clz.b32 %d, %a", "33", w_clz32},
      {"clz.b64 %d, %a", "36", w_clz64},
      {"brev.b32 %d, %a", "33", w_brev32},
      {"brev.b64 %d, %a", "66", w_brev64},
      {"bfind.u32 %d, %a", "33", w_bfind_u32},
      {"bfind.s32 %d, %a", "33", w_bfind_s32},
      {"bfind.u64 %d, %a", "36", w_bfind_u64},
      {"bfind.s64 %d, %a", "36", w_bfind_s64},
      {"bfind.shiftamt.u32 %d, %a", "33", w_bfs_u32},
      {"bfind.shiftamt.s32 %d, %a", "33", w_bfs_s32},
      {"bfind.shiftamt.u64 %d, %a", "36", w_bfs_u64},
      {"bfind.shiftamt.s64 %d, %a", "36", w_bfs_s64},
      {"fns.b32 %d, %a, %b, %c", "3333", w_fns},
      {"selp.b16 %d, %a, %b, %c", "111p", w_sel},
      {"selp.u16 %d, %a, %b, %c", "111p", w_sel},
      {"selp.b32 %d, %a, %b, %c", "333p", w_sel},
      {"selp.u32 %d, %a, %b, %c", "333p", w_sel},
      {"selp.f32 %d, %a, %b, %c", "333p", w_sel},
      {"selp.b64 %d, %a, %b, %c", "666p", w_sel},
      {"selp.s64 %d, %a, %b, %c", "666p", w_sel},
      {"selp.f64 %d, %a, %b, %c", "666p", w_sel},
      {"slct.u16.s32 %d, %a, %b, %c", "1113", w_slct32},
      {"slct.f32.s32 %d, %a, %b, %c", "3333", w_slct32},
      {"slct.b64.s32 %d, %a, %b, %c", "6663", w_slct32},
  };
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 13);
  eval_check(cases, SCT_COUNT(cases), &d);
  eval_data_free(&d);
}

/* ---- mov and its pieces */

WANT(w_same, a)
WANT(w_swap64, a << 32 | a >> 32)
WANT(w_swap32, a << 16 | (a >> 16 & 0xffff))
WANT(w_rotate16, (a << 16) | a >> 48)
WANT(w_imm_f32, 0x3fc00000)
WANT(w_imm_f64, 0x3ff8000000000000)
static void moves(void **state) {
  (void)state;
  static const eval_case cases[] = {
      {"mov.u16 %d, %a", "11", w_same},
      {"mov.b32 %d, %a", "33", w_same},
      {"mov.f32 %d, %a", "33", w_same},
      {"mov.u64 %d, %a", "66", w_same},
      {"mov.f64 %d, %a", "66", w_same},
      {"mov.pred %d, %a", "pp", w_same},
      {"{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %a; mov.b64 %d, {hi, lo}; }", "66", w_swap64},
      {"{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %a; mov.b32 %d, {hi, lo}; }", "33", w_swap32},
      {"{ .reg .b16 %h<4>; mov.b64 {%h0,%h1,%h2,%h3}, %a; mov.b64 %d, {%h3,%h0,%h1,%h2}; }", "66",
       w_rotate16},
      {"{ .reg .b32 hi; mov.b64 {_, hi}, %a; mov.b64 {%d, _}, %a; }", "36", w_same},
      {"mov.f32 %d, 0f3FC00000", "33", w_imm_f32},
      {"mov.f32 %d, 1.5", "33", w_imm_f32},
      {"mov.f64 %d, 0d3FF8000000000000", "66", w_imm_f64},
      {"mov.f64 %d, 1.5", "66", w_imm_f64},
  };
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 14);
  eval_check(cases, SCT_COUNT(cases), &d);
  eval_data_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logic_and_shifts), cmocka_unit_test(fields_and_permutations),
      cmocka_unit_test(counting_and_selection), cmocka_unit_test(moves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
