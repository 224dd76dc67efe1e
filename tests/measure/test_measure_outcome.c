/* Which outcome, or error, an answer means; and the host's checksum and comparison. */
#include "measure_fixture.h"

#include "measure/measure_session.h"
#include "worker/worker_backend.h"

/* ---- answers ---- */

static sct_status evaluate(sct_reply_kind kind, int result, sct_verdict *v) {
  sct_reply reply = {.kind = kind, .status = SCT_EINTERNAL, .result = result};
  snprintf(reply.text, sizeof reply.text, "said so");
  *v = (sct_verdict){.outcome = SCT_OUT_OK};
  return sct_reply_evaluate(&reply, " (n_i=3)", v, &fixture_err);
}

static void test_results_become_outcomes(void **state) {
  (void)state;
  static const struct {
    int result;
    sct_outcome_kind outcome;
  } cases[] = {
      {700, SCT_OUT_ILLEGAL_ACCESS}, {716, SCT_OUT_MISALIGNED},  {719, SCT_OUT_TRAP},
      {715, SCT_OUT_TRAP},           {717, SCT_OUT_TRAP},        {718, SCT_OUT_TRAP},
      {710, SCT_OUT_TRAP},           {714, SCT_OUT_TRAP},        {701, SCT_OUT_TOO_LARGE},
      {702, SCT_OUT_HANG},           {1, SCT_OUT_LAUNCH_ERROR},  {209, SCT_OUT_LAUNCH_ERROR},
      {500, SCT_OUT_LAUNCH_ERROR},   {98, SCT_OUT_LAUNCH_ERROR}, {2, SCT_OUT_TOO_LARGE}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_verdict v;
    assert_ok(evaluate(SCT_REPLY_FAILED, cases[k].result, &v));
    assert_int_equal(v.outcome, cases[k].outcome);
    assert_string_equal(v.detail, "said so (n_i=3)");
  }
}

/* Every result after which a process is useless is somebody's: no sticky result may pass for a
 * refused launch. */
static void test_every_sticky_result_is_classified(void **state) {
  (void)state;
  int n = 0;
  for (int result = 1; result < 1000; result++) {
    sct_verdict v;
    if (!sct_cuda_is_sticky(result)) {
      continue;
    }
    const sct_status status = evaluate(SCT_REPLY_FAILED, result, &v);
    n++;
    if (sct_cuda_is_lost(result)) {
      assert_int_equal(status, SCT_EUNHEALTHY);
    } else {
      assert_int_equal(status, SCT_OK);
      assert_true(v.outcome != SCT_OUT_OK);
      assert_true(v.outcome != SCT_OUT_LAUNCH_ERROR || result == 810); /* MPS: not the kernel's */
    }
  }
  assert_int_equal(n, 13);
}

static void test_the_device_at_fault_is_no_outcome(void **state) {
  (void)state;
  static const int lost[] = {46, 214, 220, 226, 802, 999};
  for (int k = 0; k < SCT_COUNT(lost); k++) {
    sct_verdict v;
    assert_int_equal(evaluate(SCT_REPLY_FAILED, lost[k], &v), SCT_EUNHEALTHY);
    assert_int_equal(v.outcome, SCT_OUT_OK);
    assert_non_null(strstr(fixture_err.text, "said so"));
  }
}

static void test_ends_of_the_worker(void **state) {
  (void)state;
  sct_verdict v;
  assert_ok(evaluate(SCT_REPLY_OK, 0, &v));
  assert_int_equal(v.outcome, SCT_OUT_OK);
  assert_ok(evaluate(SCT_REPLY_TIMEOUT, 0, &v));
  assert_int_equal(v.outcome, SCT_OUT_HANG);
  assert_ok(evaluate(SCT_REPLY_DIED, 0, &v));
  assert_int_equal(v.outcome, SCT_OUT_CRASH);
  assert_int_equal(evaluate(SCT_REPLY_NOMEM, 0, &v), SCT_ENOMEM);
  assert_int_equal(evaluate(SCT_REPLY_FAILED, 0, &v), SCT_EINTERNAL); /* a malformed request */
}

static void test_audits_name_the_array(void **state) {
  (void)state;
  const int layout[SCT_MAX_OPERANDS] = {0};
  const int64_t n[] = {4}, buffers[] = {7, 9};
  const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                  {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  static const struct {
    sct_audit audit;
    sct_outcome_kind outcome;
    const char *detail;
  } cases[] = {
      {{SCT_DAMAGE_NONE, 7, 0}, SCT_OUT_OK, ""},
      {{SCT_DAMAGE_AFTER, 9, 18},
       SCT_OUT_OUT_OF_BOUNDS,
       "wrote at byte 18 of 'b', behind its array (n_i=4)"},
      {{SCT_DAMAGE_BEFORE, 7, -3},
       SCT_OUT_OUT_OF_BOUNDS,
       "wrote at byte -3 of 'a', before its array (n_i=4)"},
      {{SCT_DAMAGE_CONTENT, 7, 0}, SCT_OUT_INPUT_CHANGED, "changed the input 'a' (n_i=4)"},
      {{SCT_DAMAGE_CONTENT, 8, 0},
       SCT_OUT_OUT_OF_BOUNDS,
       "wrote to memory that is not its own (n_i=4)"},
  };
  sct_spec spec;
  sct_addressing addressing;
  sct_shape shape;
  fixture_spec(&spec, "i", arrays, 1, 2, NULL, "b = a;", n);
  assert_ok(sct_addressing_init(&addressing, &spec, layout, 1, &fixture_err));
  assert_ok(sct_shape_init(&shape, &addressing, n, NULL, &fixture_err));
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_verdict v = {.outcome = SCT_OUT_OK};
    sct_evaluate_audit(&v, &shape, buffers, &cases[k].audit);
    assert_int_equal(v.outcome, cases[k].outcome);
    assert_string_equal(v.detail, cases[k].detail);
  }
  sct_shape_free(&shape);
  sct_addressing_free(&addressing);
  sct_spec_free(&spec);
}

static void test_launch_limits(void **state) {
  (void)state;
  assert_int_equal(sct_launch_limit_ns(0), 2000000000);
  assert_int_equal(sct_launch_limit_ns(1e6), 2000000000);
  assert_int_equal(sct_launch_limit_ns(1e9), 50000000000);
}

/* ---- the host's checksum ---- */

static void test_sums_see_every_byte_and_its_place(void **state) {
  (void)state;
  uint8_t bytes[64];
  for (int k = 0; k < 64; k++) {
    bytes[k] = (uint8_t)(k * 7);
  }
  for (int64_t lo = 0; lo < 24; lo += 5) {
    const int64_t hi = lo + 33;
    const uint64_t sum = sct_region_sum(bytes + lo, lo, hi);
    for (int64_t k = 0; k < 64; k++) {
      bytes[k] ^= 0x10;
      const bool inside = k >= lo && k < hi;
      assert_int_equal(sct_region_sum(bytes + lo, lo, hi) != sum, inside);
      bytes[k] ^= 0x10;
    }
    const uint8_t first = bytes[lo]; /* two words exchanged: the same bytes, another place */
    bytes[lo] = bytes[lo + 16];
    bytes[lo + 16] = first;
    assert_true(sct_region_sum(bytes + lo, lo, hi) != sum);
    bytes[lo + 16] = bytes[lo];
    bytes[lo] = first;
  }
  assert_true(sct_region_sum(bytes, 5, 5) == 0);
  /* by its definition, for one region that starts and ends inside words */
  uint64_t a = 0, b = 0;
  memcpy((uint8_t *)&a + 6, bytes + 6, 2);
  memcpy(&b, bytes + 8, 3);
  assert_true(sct_region_sum(bytes + 6, 6, 11) ==
              sct_region_sum((uint8_t *)&a, 0, 8) + sct_region_sum((uint8_t *)&b, 8, 16));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results_become_outcomes),
      cmocka_unit_test(test_every_sticky_result_is_classified),
      cmocka_unit_test(test_the_device_at_fault_is_no_outcome),
      cmocka_unit_test(test_ends_of_the_worker),
      cmocka_unit_test(test_audits_name_the_array),
      cmocka_unit_test(test_launch_limits),
      cmocka_unit_test(test_sums_see_every_byte_and_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
