/* vote and redux: over any subset of a warp, against loops over its lanes. */
#include "ptx_kernel.h"

/* The lanes of `mask` run `body` (over %r1, %p1, the mask in %r9; result in %r2), the others store
 * their input. */
static sct_ptx_kind run_masked(const char *body, uint32_t mask, const uint32_t in[32],
                               uint32_t out[32]) {
  sct_str text = {0};
  sct_str_printf(&text,
                 "%sld.global.u32 %%r1, [%%pi]; mov.u32 %%r2, %%r1; mov.u32 %%r9, %u;\n"
                 "setp.ne.u32 %%p1, %%r1, 0; shr.u32 %%r8, %%r9, %%i; and.b32 %%r8, %%r8, 1;\n"
                 "setp.eq.u32 %%p2, %%r8, 0; @%%p2 bra END;\n%s;\n"
                 "END: st.global.u32 [%%po], %%r2; ret;\n}\n",
                 PTX_KERNEL, mask, body);
  const kernel_run r = {.blocks = 1, .threads = 32, .in = in, .in_bytes = 128, .out_bytes = 128};
  const sct_ptx_kind kind = run_kernel(sct_str_c(&text), &r, out, NULL);
  sct_str_free(&text);
  return kind;
}

static uint32_t reduced(int op, const uint32_t in[32], uint32_t mask) {
  uint32_t yes = 0;
  int64_t least = INT64_MAX, most = INT64_MIN, sum = 0, least_u = INT64_MAX, most_u = -1;
  uint32_t and = UINT32_MAX, or = 0, xor = 0;
  for (int i = 0; i < 32; i++) {
    if (mask >> i & 1) {
      const int64_t u = in[i], s = u >= 0x80000000 ? u - 0x100000000 : u;
      yes |= (uint32_t)(in[i] != 0) << i;
      least = s < least ? s : least;
      most = s > most ? s : most;
      least_u = u < least_u ? u : least_u;
      most_u = u > most_u ? u : most_u;
      sum += u;
      and &= in[i];
      or |= in[i];
      xor ^= in[i];
    }
  }
  const int64_t all[] = {yes == mask, yes != 0,    yes == 0 || yes == mask,
                         yes,         mask & ~yes, sum,
                         sum,         least_u,     least,
                         most_u,      most,        and,
                         or,          xor};
  return (uint32_t)all[op];
}

static void any_subset(void **state) {
  (void)state;
#define PRED(mode) "vote.sync." mode ".pred %p3, %p1, %r9; selp.u32 %r2, 1, 0, %p3"
  static const char *const bodies[] = {PRED("all"),
                                       PRED("any"),
                                       PRED("uni"),
                                       "vote.sync.ballot.b32 %r2, %p1, %r9",
                                       "vote.sync.ballot.b32 %r2, !%p1, %r9",
                                       "redux.sync.add.u32 %r2, %r1, %r9",
                                       "redux.sync.add.s32 %r2, %r1, %r9",
                                       "redux.sync.min.u32 %r2, %r1, %r9",
                                       "redux.sync.min.s32 %r2, %r1, %r9",
                                       "redux.sync.max.u32 %r2, %r1, %r9",
                                       "redux.sync.max.s32 %r2, %r1, %r9",
                                       "redux.sync.and.b32 %r2, %r1, %r9",
                                       "redux.sync.or.b32 %r2, %r1, %r9",
                                       "redux.sync.xor.b32 %r2, %r1, %r9"};
  const uint64_t seed = 97;
  sct_rng rng = sct_rng_new(seed);
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int round = 0; round < 20; round++) {
    const uint32_t random = (uint32_t)sct_rng_u64(&rng);
    const uint32_t mask = round < 3 ? UINT32_MAX : round < 5 ? 1u << 5 * round : random | 1;
    uint32_t in[32], out[32];
    for (int i = 0; i < 32; i++) {
      const uint32_t v = (uint32_t)sct_rng_u64(&rng);
      in[i] = round % 4 == 0 ? 0 : round % 4 == 1 ? v | 1 : v & 1 ? v : 0;
    }
    for (int k = 0; k < SCT_COUNT(bodies); k++) {
      assert_int_equal(run_masked(bodies[k], mask, in, out), SCT_PTX_CLEAN);
      for (int i = 0; i < 32; i++) {
        const uint32_t want = mask >> i & 1 ? reduced(k, in, mask) : in[i];
        if (out[i] != want) {
          fail_msg("%s of 0x%x: lane %d has %u, not %u", bodies[k], mask, i, out[i], want);
        }
      }
    }
  }
}

static void absent_and_undefined_lanes(void **state) {
  (void)state;
  uint32_t in[32] = {0}, out[32];
  assert_int_equal(run_masked("vote.sync.ballot.b32 %r2, %p1, -1", 0xff, in, out),
                   SCT_PTX_ABSENT_LANE);
  assert_int_equal(run_masked("redux.sync.add.u32 %r2, %r1, 0xfe", 0xff, in, out),
                   SCT_PTX_ABSENT_LANE);
  /* %r20 is set in the upper lanes only */
  static const char body[] = "setp.gt.u32 %p4, %i, 15; @%p4 mov.u32 %r20, 1;\n"
                             "selp.b32 %r21, 0xffff0000, 0x0000ffff, %p4;\n"
                             "redux.sync.or.b32 %r22, %r20, %r21; @%p4 mov.u32 %r2, %r22";
  assert_int_equal(run_masked(body, UINT32_MAX, in, out), SCT_PTX_CLEAN);
  assert_int_equal(out[31], 1);
  assert_int_equal(run_masked("setp.gt.u32 %p4, %i, 0; @%p4 mov.u32 %r20, 1;\n"
                              "redux.sync.or.b32 %r2, %r20, %r9",
                              UINT32_MAX, in, out),
                   SCT_PTX_UNDEFINED_STORE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_subset),
                                     cmocka_unit_test(absent_and_undefined_lanes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
