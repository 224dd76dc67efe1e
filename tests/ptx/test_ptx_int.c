/* Every integer form against arithmetic on 128-bit integers. */
#include "ptx_eval.h"

__extension__ typedef __int128 big;
__extension__ typedef unsigned __int128 ubig;

static const uint64_t corners[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   255,
                                   0x7f,
                                   0x80,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x10000,
                                   0x7fffff,
                                   0x800000,
                                   0xffffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0x80000001,
                                   0xfffffffe,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xfffffffffffffffe,
                                   0xffffffffffffffff,
                                   0x123456789abcdef0,
                                   0xfedcba9876543210};

/* Sign extension from `bits`, by arithmetic rather than shifts. */
static big sx(uint64_t v, int bits) {
  const big full = (big)1 << bits;
  const big x = (big)v % full;
  return x >= full / 2 ? x - full : x;
}

#define ARGS   uint64_t a, uint64_t b, uint64_t c, uint64_t e
#define UNUSED (void)a, (void)b, (void)c, (void)e
#define WANT(name, expr)                                                                           \
  static uint64_t name(ARGS) {                                                                     \
    UNUSED;                                                                                        \
    return (uint64_t)(expr);                                                                       \
  }

WANT(w_add, (ubig)a + b)
WANT(w_sub, (ubig)a - b)
WANT(w_mul, (ubig)a *b)
WANT(w_mad, (ubig)a *b + c)
static big clamp32(big v) {
  const big max = 0x7fffffff, min = -max - 1;
  return v > max ? max : v < min ? min : v;
}
WANT(w_addsat, clamp32(sx(a, 32) + sx(b, 32)))
WANT(w_subsat, clamp32(sx(a, 32) - sx(b, 32)))
WANT(w_hi_u16, (ubig)a *b >> 16)
WANT(w_hi_s16, sx(a, 16) * sx(b, 16) >> 16)
WANT(w_hi_u32, (ubig)a *b >> 32)
WANT(w_hi_s32, sx(a, 32) * sx(b, 32) >> 32)
WANT(w_hi_u64, (ubig)a *b >> 64)
WANT(w_hi_s64, sx(a, 64) * sx(b, 64) >> 64)
WANT(w_wide_s16, sx(a, 16) * sx(b, 16))
WANT(w_wide_s32, sx(a, 32) * sx(b, 32))
WANT(w_madwide_s16, sx(a, 16) * sx(b, 16) + (big)c)
WANT(w_madwide_s32, sx(a, 32) * sx(b, 32) + (big)c)
WANT(w_madhi_u32, ((ubig)a * b >> 32) + c)
WANT(w_madhi_s32, (sx(a, 32) * sx(b, 32) >> 32) + (big)c)
WANT(w_madhi_u64, ((ubig)a * b >> 64) + c)
WANT(w_madhi_s64, (sx(a, 64) * sx(b, 64) >> 64) + (big)c)
WANT(w_madhisat, clamp32((sx(a, 32) * sx(b, 32) >> 32) + sx(c, 32)))
WANT(w_mul24_u, (a % 0x1000000) * (b % 0x1000000))
WANT(w_mul24_s, sx(a, 24) * sx(b, 24))
WANT(w_mul24hi_u, (a % 0x1000000) * (b % 0x1000000) >> 16)
WANT(w_mul24hi_s, sx(a, 24) * sx(b, 24) >> 16)
WANT(w_mad24_u, (a % 0x1000000) * (b % 0x1000000) + c)
WANT(w_mad24_s, sx(a, 24) * sx(b, 24) + (big)c)

static big quotient(big a, big b) {
  return b == 0 ? -1 : a / b;
}
static big remainder_of(big a, big b) {
  return b == 0 ? a : a - quotient(a, b) * b;
}
WANT(w_div_u, quotient((big)a, (big)b))
WANT(w_div_s16, quotient(sx(a, 16), sx(b, 16)))
WANT(w_div_s32, quotient(sx(a, 32), sx(b, 32)))
WANT(w_div_s64, quotient(sx(a, 64), sx(b, 64)))
WANT(w_rem_u, remainder_of((big)a, (big)b))
WANT(w_rem_s16, remainder_of(sx(a, 16), sx(b, 16)))
WANT(w_rem_s32, remainder_of(sx(a, 32), sx(b, 32)))
WANT(w_rem_s64, remainder_of(sx(a, 64), sx(b, 64)))

static big absolute(big v) {
  return v < 0 ? -v : v;
}
static big least(big a, big b) {
  return a < b ? a : b;
}
WANT(w_abs_s16, absolute(sx(a, 16)))
WANT(w_abs_s32, absolute(sx(a, 32)))
WANT(w_abs_s64, absolute(sx(a, 64)))
WANT(w_neg, -(big)a)
WANT(w_min_u, least((big)a, (big)b))
WANT(w_max_u, -least(-(big)a, -(big)b))
WANT(w_min_s16, least(sx(a, 16), sx(b, 16)))
WANT(w_max_s16, -least(-sx(a, 16), -sx(b, 16)))
WANT(w_min_s32, least(sx(a, 32), sx(b, 32)))
WANT(w_max_s32, -least(-sx(a, 32), -sx(b, 32)))
WANT(w_min_s64, least(sx(a, 64), sx(b, 64)))
WANT(w_max_s64, -least(-sx(a, 64), -sx(b, 64)))
WANT(w_minrelu, -least(-least(sx(a, 32), sx(b, 32)), 0))
WANT(w_maxrelu, -least(least(-sx(a, 32), -sx(b, 32)), 0))
WANT(w_sad_u, absolute((big)a - (big)b) + (big)c)
WANT(w_sad_s16, absolute(sx(a, 16) - sx(b, 16)) + (big)c)
WANT(w_sad_s32, absolute(sx(a, 32) - sx(b, 32)) + (big)c)
WANT(w_sad_s64, absolute(sx(a, 64) - sx(b, 64)) + (big)c)

static const eval_case plain[] = {
    {"add.u16 %d, %a, %b", "111", w_add},
    {"add.s16 %d, %a, %b", "111", w_add},
    {"add.u32 %d, %a, %b", "333", w_add},
    {"add.s32 %d, %a, %b", "333", w_add},
    {"add.u64 %d, %a, %b", "666", w_add},
    {"add.s64 %d, %a, %b", "666", w_add},
    {"add.sat.s32 %d, %a, %b", "333", w_addsat},
    {"sub.u16 %d, %a, %b", "111", w_sub},
    {"sub.s16 %d, %a, %b", "111", w_sub},
    {"sub.u32 %d, %a, %b", "333", w_sub},
    {"sub.s32 %d, %a, %b", "333", w_sub},
    {"sub.u64 %d, %a, %b", "666", w_sub},
    {"sub.s64 %d, %a, %b", "666", w_sub},
    {"sub.sat.s32 %d, %a, %b", "333", w_subsat},
    {"mul.lo.u16 %d, %a, %b", "111", w_mul},
    {"mul.lo.s16 %d, %a, %b", "111", w_mul},
    {"mul.lo.u32 %d, %a, %b", "333", w_mul},
    {"mul.lo.s32 %d, %a, %b", "333", w_mul},
    {"mul.lo.u64 %d, %a, %b", "666", w_mul},
    {"mul.lo.s64 %d, %a, %b", "666", w_mul},
    {"mul.hi.u16 %d, %a, %b", "111", w_hi_u16},
    {"mul.hi.s16 %d, %a, %b", "111", w_hi_s16},
    {"mul.hi.u32 %d, %a, %b", "333", w_hi_u32},
    {"mul.hi.s32 %d, %a, %b", "333", w_hi_s32},
    {"mul.hi.u64 %d, %a, %b", "666", w_hi_u64},
    {"mul.hi.s64 %d, %a, %b", "666", w_hi_s64},
    {"mul.wide.u16 %d, %a, %b", "311", w_mul},
    {"mul.wide.s16 %d, %a, %b", "311", w_wide_s16},
    {"mul.wide.u32 %d, %a, %b", "633", w_mul},
    {"mul.wide.s32 %d, %a, %b", "633", w_wide_s32},
    {"mul24.lo.u32 %d, %a, %b", "333", w_mul24_u},
    {"mul24.lo.s32 %d, %a, %b", "333", w_mul24_s},
    {"mul24.hi.u32 %d, %a, %b", "333", w_mul24hi_u},
    {"mul24.hi.s32 %d, %a, %b", "333", w_mul24hi_s},
    {"mad24.lo.u32 %d, %a, %b, %c", "3333", w_mad24_u},
    {"mad24.lo.s32 %d, %a, %b, %c", "3333", w_mad24_s},
    {"mad.lo.u16 %d, %a, %b, %c", "1111", w_mad},
    {"mad.lo.s16 %d, %a, %b, %c", "1111", w_mad},
    {"mad.lo.u32 %d, %a, %b, %c", "3333", w_mad},
    {"mad.lo.s32 %d, %a, %b, %c", "3333", w_mad},
    {"mad.lo.u64 %d, %a, %b, %c", "6666", w_mad},
    {"mad.lo.s64 %d, %a, %b, %c", "6666", w_mad},
    {"mad.hi.u32 %d, %a, %b, %c", "3333", w_madhi_u32},
    {"mad.hi.s32 %d, %a, %b, %c", "3333", w_madhi_s32},
    {"mad.hi.u64 %d, %a, %b, %c", "6666", w_madhi_u64},
    {"mad.hi.s64 %d, %a, %b, %c", "6666", w_madhi_s64},
    {"mad.hi.sat.s32 %d, %a, %b, %c", "3333", w_madhisat},
    {"mad.wide.u16 %d, %a, %b, %c", "3113", w_mad},
    {"mad.wide.s16 %d, %a, %b, %c", "3113", w_madwide_s16},
    {"mad.wide.u32 %d, %a, %b, %c", "6336", w_mad},
    {"mad.wide.s32 %d, %a, %b, %c", "6336", w_madwide_s32},
    {"div.u16 %d, %a, %b", "111", w_div_u},
    {"div.s16 %d, %a, %b", "111", w_div_s16},
    {"div.u32 %d, %a, %b", "333", w_div_u},
    {"div.s32 %d, %a, %b", "333", w_div_s32},
    {"div.u64 %d, %a, %b", "666", w_div_u},
    {"div.s64 %d, %a, %b", "666", w_div_s64},
    {"rem.u16 %d, %a, %b", "111", w_rem_u},
    {"rem.s16 %d, %a, %b", "111", w_rem_s16},
    {"rem.u32 %d, %a, %b", "333", w_rem_u},
    {"rem.s32 %d, %a, %b", "333", w_rem_s32},
    {"rem.u64 %d, %a, %b", "666", w_rem_u},
    {"rem.s64 %d, %a, %b", "666", w_rem_s64},
    {"abs.s16 %d, %a", "11", w_abs_s16},
    {"abs.s32 %d, %a", "33", w_abs_s32},
    {"abs.s64 %d, %a", "66", w_abs_s64},
    {"neg.s16 %d, %a", "11", w_neg},
    {"neg.s32 %d, %a", "33", w_neg},
    {"neg.s64 %d, %a", "66", w_neg},
    {"min.u16 %d, %a, %b", "111", w_min_u},
    {"min.s16 %d, %a, %b", "111", w_min_s16},
    {"min.u32 %d, %a, %b", "333", w_min_u},
    {"min.s32 %d, %a, %b", "333", w_min_s32},
    {"min.relu.s32 %d, %a, %b", "333", w_minrelu},
    {"min.u64 %d, %a, %b", "666", w_min_u},
    {"min.s64 %d, %a, %b", "666", w_min_s64},
    {"max.u16 %d, %a, %b", "111", w_max_u},
    {"max.s16 %d, %a, %b", "111", w_max_s16},
    {"max.u32 %d, %a, %b", "333", w_max_u},
    {"max.s32 %d, %a, %b", "333", w_max_s32},
    {"max.relu.s32 %d, %a, %b", "333", w_maxrelu},
    {"max.u64 %d, %a, %b", "666", w_max_u},
    {"max.s64 %d, %a, %b", "666", w_max_s64},
    {"sad.u16 %d, %a, %b, %c", "1111", w_sad_u},
    {"sad.s16 %d, %a, %b, %c", "1111", w_sad_s16},
    {"sad.u32 %d, %a, %b, %c", "3333", w_sad_u},
    {"sad.s32 %d, %a, %b, %c", "3333", w_sad_s32},
    {"sad.u64 %d, %a, %b, %c", "6666", w_sad_u},
    {"sad.s64 %d, %a, %b, %c", "6666", w_sad_s64},
};

static void arithmetic(void **state) {
  (void)state;
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 1);
  eval_check(plain, SCT_COUNT(plain), &d);
  eval_data_free(&d);
}

/* ---- carries: a chain of two instructions is one operation of twice the width */

static uint64_t halves32(big v, bool upper) {
  return (uint64_t)(upper ? v >> 32 : v) & 0xffffffff;
}
WANT(w_carry_add, halves32((big)a + (big)b, true) + (big)c)
WANT(w_carry_sub, (big)c - ((big)a < (big)b))
WANT(w_carry_add64, (uint64_t)(((ubig)a + b) >> 64) + c)
WANT(w_carry_sub64, (big)c - ((big)a < (big)b))
/* mad.lo.cc then madc.hi: the upper half of a * b + c, with c in the lower word */
WANT(w_mad_chain, ((ubig)a * b + c) >> 32)
WANT(w_mad_chain_s, (sx(a, 32) * sx(b, 32) + (big)c) >> 32)
WANT(w_mad_chain64, ((ubig)a * b + c) >> 64)
/* mad.hi.cc leaves its carry */
WANT(w_madhi_carry, ((((ubig)a * b >> 32) + c) >> 32) + e)
WANT(w_madclo, ((((ubig)a + b) >> 32) + (uint32_t)(c * e) + a))

static void carries(void **state) {
  (void)state;
  static const eval_case cases[] = {
      {"add.cc.u32 %d, %a, %b;\naddc.u32 %d, %c, 0", "3333", w_carry_add},
      {"add.cc.s32 %d, %a, %b;\naddc.cc.s32 %d, %c, 0", "3333", w_carry_add},
      {"sub.cc.u32 %d, %a, %b;\nsubc.u32 %d, %c, 0", "3333", w_carry_sub},
      {"sub.cc.s32 %d, %a, %b;\nsubc.cc.s32 %d, %c, 0", "3333", w_carry_sub},
      {"add.cc.u64 %d, %a, %b;\naddc.u64 %d, %c, 0", "6666", w_carry_add64},
      {"sub.cc.s64 %d, %a, %b;\nsubc.s64 %d, %c, 0", "6666", w_carry_sub64},
      {"mad.lo.cc.u32 %d, %a, %b, %c;\nmadc.hi.u32 %d, %a, %b, 0", "3333", w_mad_chain},
      {"mad.lo.cc.s32 %d, %a, %b, %c;\nmadc.hi.cc.s32 %d, %a, %b, 0", "3333", w_mad_chain_s},
      {"mad.lo.cc.u64 %d, %a, %b, %c;\nmadc.hi.u64 %d, %a, %b, 0", "6666", w_mad_chain64},
      {"mad.hi.cc.u32 %d, %a, %b, %c;\naddc.u32 %d, %e, 0", "33333", w_madhi_carry},
      {"add.cc.u32 %d, %a, %b;\nmadc.lo.u32 %d, %c, %e, %a", "33333", w_madclo},
  };
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 2);
  eval_check(cases, SCT_COUNT(cases), &d);
  eval_data_free(&d);
}

/* Immediates, in every base and sign, mean the same as registers. */
WANT(w_plus_m5, (big)a - 5)
WANT(w_plus_hex, (ubig)a + 0xdeadbeef)
WANT(w_plus_octal, (ubig)a + 8)
WANT(w_plus_binary, (ubig)a + 5)
static void immediates(void **state) {
  (void)state;
  static const eval_case cases[] = {
      {"add.s32 %d, %a, -5", "33", w_plus_m5},
      {"add.s16 %d, %a, -5", "11", w_plus_m5},
      {"add.s64 %d, %a, -5", "66", w_plus_m5},
      {"add.u32 %d, %a, 0xDEADbeef", "33", w_plus_hex},
      {"add.u64 %d, %a, 0xdeadbeefU", "66", w_plus_hex},
      {"add.u32 %d, %a, 010", "33", w_plus_octal},
      {"add.u32 %d, %a, 0b101", "33", w_plus_binary},
  };
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 3);
  eval_check(cases, SCT_COUNT(cases), &d);
  eval_data_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(carries),
                                     cmocka_unit_test(immediates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
