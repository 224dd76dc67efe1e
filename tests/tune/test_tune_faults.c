/* A failing candidate is an outcome: in the report, in the store, and the session goes on. */
#include "tune_fixture.h"

#define SPEC TF_COPY("{ i = 4096 }")

typedef struct fault_case {
  const char *script, *outcome, *detail;
} fault_case;

/* Candidate 1 ("direct t128") fails as the case says; the others are measured, the faster wins. */
static void assert_fault(const fault_case *c) {
  tf_run r = tf_new(sct_arena_printf(&tf_arena, "%s slow@0=3", c->script), "faults.db");
  r.opts.measure.request_ns = strcmp(c->outcome, "hang") == 0 ? 5000000000 : 60000000000;
  (void)unlink(tf_path("faults.db"));
  tf_tune_ok(&r, SPEC);
  tf_assert_winner(&r, 0, "direct t512");
  const sct_tune_row *row = tf_row(&r, 0, "direct t128");
  if (strcmp(row->outcome.outcome, c->outcome) != 0 || !row->outcome.detail ||
      !strstr(row->outcome.detail, c->detail)) {
    fail_msg("%s: expected %s \"%s\", got %s \"%s\"", c->script, c->outcome, c->detail,
             row->outcome, row->outcome.detail ? row->outcome.detail : "");
  }
  assert_false(row->winner || row->tied);
  const sct_tune_size *size = &r.report.sizes[0];
  assert_int_equal(size->n_rows, 3);
  assert_int_equal(size->n_verified, 2);
  assert_int_equal(size->n_failed, 1);
  assert_string_equal(size->rows[2].label, "direct t128"); /* failures last */
  assert_true(size->rows[1].naive);
  assert_null(size->rows[0].outcome.detail);
  tf_stored s;
  tf_stored_open(&s, "faults.db");
  assert_int_equal(s.n_results, 3);
  const sct_row_result *stored = tf_result(&s, "direct t128");
  assert_string_equal(stored->outcome.outcome, c->outcome);
  assert_string_equal(stored->outcome.detail, row->outcome.detail);
  assert_string_equal(tf_result(&s, "direct t256")->outcome.outcome, "ok");
  assert_int_equal(s.runs[0].winner, tf_result(&s, "direct t512")->outcome.id);
  assert_int_equal(s.runs[0].naive, tf_result(&s, "direct t256")->outcome.id);
  assert_int_equal(s.runs[0].n_candidates, 3);
  assert_int_equal(s.runs[0].n_verified, 2);
  assert_int_equal(s.runs[0].n_failed, 1);
  tf_stored_close(&s);
  tf_free(&r);
}

static void every_fault_is_an_outcome(void **state) {
  (void)state;
  static const fault_case cases[] = {
      {"wrong@1", "wrong_result", "b"},
      {"unwritten@1", "not_written", "b"},
      {"guard@1", "out_of_bounds", "behind its array"},
      {"before@1", "out_of_bounds", "before its array"},
      {"input@1", "input_changed", "'a'"},
      {"sticky700@1", "illegal_access", "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {"sticky716@1", "misaligned", "CUDA_ERROR_MISALIGNED_ADDRESS"},
      {"sticky715@1", "trap", "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
      {"refuse701@1", "too_large", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {"refuse1@1", "launch_error", "CUDA_ERROR_INVALID_VALUE"},
      {"noload@1", "launch_error", "CUDA_ERROR_INVALID_IMAGE"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_fault(&cases[k]);
  }
}

static void a_dead_worker_is_replaced(void **state) {
  (void)state;
  static const fault_case cases[] = {
      {"crash@1", "crash", ""},
      {"exit@1", "crash", ""},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_fault(&cases[k]);
  }
}

static void a_hang_is_cut_off(void **state) {
  (void)state;
  assert_fault(&(fault_case){"hang@1", "hang", ""});
}

/* It passes every small size (13 launches), and fails among the first samples (at least 11) of its
 * timing, however slow this machine is. */
static void a_fault_while_timing_is_one_of_that_size(void **state) {
  (void)state;
  tf_run r = tf_new("sticky700@1=20", NULL);
  tf_tune_ok(&r, SPEC);
  tf_assert_outcome(&r, 0, "direct t128", "illegal_access");
  assert_int_equal(r.report.sizes[0].n_verified, 2);
  tf_free(&r);
}

static void an_implausible_time_does_not_win(void **state) {
  (void)state;
  tf_run r = tf_new("fast@2 slow@0=2", NULL);
  tf_tune_ok(&r, TF_COPY("{ i = 1 << 16 }"));
  tf_assert_outcome(&r, 0, "direct t512", "implausible");
  tf_assert_winner(&r, 0, "direct t128");
  tf_free(&r);
}

/* A fault's number is that of the candidate in the order in which the GPU gets them. Processes that
 * check candidates first would hand seven of them on in any order. */
static void several_candidates_fail_each_in_its_way(void **state) {
  (void)state;
  tf_add_strategy("several", "other", tf_strategy("other", "{ 64, 96, 160, 192 }"));
  tf_run r = tf_new("wrong@1 crash@2 sticky700@3 guard@5 unwritten@6 slow@0=2", "several.db");
  r.opts.strategy_dir = tf_path("several");
  r.opts.no_check = true;
  tf_tune_ok(&r, SPEC);
  tf_assert_winner(&r, 0, "other t96");
  tf_assert_outcome(&r, 0, "direct t128", "wrong_result");
  tf_assert_outcome(&r, 0, "direct t512", "crash");
  tf_assert_outcome(&r, 0, "other t64", "illegal_access");
  tf_assert_outcome(&r, 0, "other t160", "out_of_bounds");
  tf_assert_outcome(&r, 0, "other t192", "not_written");
  assert_int_equal(r.report.sizes[0].n_failed, 5);
  assert_int_equal(r.report.sizes[0].n_verified, 2);
  tf_stored s;
  tf_stored_open(&s, "several.db");
  assert_int_equal(s.n_results, 7);
  assert_int_equal(s.runs[0].n_failed, 5);
  assert_int_equal(s.runs[0].winner, tf_result(&s, "other t96")->outcome.id);
  tf_stored_close(&s);
  tf_free(&r);
}

/* Failures are not tried again; the next session says the same without running them. */
static void a_failure_is_not_tried_again(void **state) {
  (void)state;
  tf_run r = tf_new("wrong@1", "failed.db");
  tf_tune_ok(&r, SPEC);
  tf_assert_outcome(&r, 0, "direct t128", "wrong_result");
  r.opts.measure.fake = "ok";
  tf_tune_ok(&r, SPEC);
  tf_assert_outcome(&r, 0, "direct t128", "wrong_result");
  assert_non_null(tf_row(&r, 0, "direct t128")->outcome.detail);
  r.opts.again = true;
  tf_tune_ok(&r, SPEC);
  tf_assert_outcome(&r, 0, "direct t128", "ok");
  tf_stored s;
  tf_stored_open(&s, "failed.db");
  assert_string_equal(tf_result(&s, "direct t128")->outcome.outcome, "ok");
  assert_int_equal(s.runs[0].n_failed, 0);
  tf_stored_close(&s);
  tf_free(&r);
}

/* Without the naive variant there is no reference: the session says so, and report and store say
 * what became of it. */
static void a_failing_naive_variant_ends_the_session(void **state) {
  (void)state;
  static const struct {
    const char *script, *outcome;
  } cases[] = {{"wrong@0", "wrong_result"},
               {"crash@0", "crash"},
               {"guard@0", "out_of_bounds"},
               {"sticky700@0", "illegal_access"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    (void)unlink(tf_path("naive.db"));
    tf_run r = tf_new(cases[k].script, "naive.db");
    tf_tune(&r, SPEC);
    assert_int_equal(r.status, SCT_ENOTVERIFIED);
    assert_non_null(strstr(r.err.text, "naive"));
    assert_int_equal(r.report.n_sizes, 1);
    tf_assert_outcome(&r, 0, "direct t256", cases[k].outcome);
    assert_int_equal(r.report.sizes[0].n_verified, 0);
    assert_int_equal(r.report.sizes[0].n_tied, 0);
    tf_stored s;
    tf_stored_open(&s, "naive.db");
    assert_string_equal(tf_result(&s, "direct t256")->outcome.outcome, cases[k].outcome);
    assert_int_equal(s.runs[0].winner, 0);
    assert_int_equal(s.runs[0].n_failed, 1);
    tf_stored_close(&s);
    tf_free(&r);
  }
}

static void a_lost_device_ends_the_session(void **state) {
  (void)state;
  tf_run r = tf_new("crash@1 gone=2", NULL); /* the second worker finds no device */
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EUNHEALTHY);
  assert_non_null(strstr(r.err.text, "CUDA_ERROR_UNKNOWN"));
  assert_int_equal(r.n_verify, 3); /* the one after the crash finds none */
  assert_int_equal(r.report.n_sizes, 0);
  tf_free(&r);
}

static void a_device_that_is_too_small_is_said(void **state) {
  (void)state;
  tf_run r = tf_new("memory=3000000", NULL);
  tf_tune(&r, TF_COPY("{ i = 1 << 22 }"));
  assert_int_equal(r.status, SCT_ENOMEM);
  tf_free(&r);
}

/* The template of candidate 1 commands the compiler's process. */
static void a_candidate_that_kills_the_compiler_is_an_outcome(void **state) {
  (void)state;
  sct_str text = {0};
  sct_error err;
  if (sct_asset_read(&text, "templates/direct.cu", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  sct_str_append(&text, "//% if threads == 128 then\n//!crash\n//% end\n");
  const char *bad = sct_arena_printf(&tf_arena, "%s", sct_str_c(&text));
  sct_str_free(&text);
  const char *path = tf_write("assets/templates/direct.cu", bad);
  tf_run r = tf_new("slow@0=3", "crash.db");
  tf_tune_ok(&r, SPEC);
  tf_assert_winner(&r, 0, "direct t512");
  tf_assert_outcome(&r, 0, "direct t128", "compile_crash");
  assert_non_null(strstr(tf_row(&r, 0, "direct t128")->outcome.detail, "signal 11"));
  tf_stored s;
  tf_stored_open(&s, "crash.db");
  assert_string_equal(tf_result(&s, "direct t128")->outcome.outcome, "compile_crash");
  tf_stored_close(&s);
  assert_int_equal(unlink(path), 0);
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_fault_is_an_outcome),
      cmocka_unit_test(a_candidate_that_kills_the_compiler_is_an_outcome),
      cmocka_unit_test(a_dead_worker_is_replaced),
      cmocka_unit_test(a_hang_is_cut_off),
      cmocka_unit_test(a_fault_while_timing_is_one_of_that_size),
      cmocka_unit_test(an_implausible_time_does_not_win),
      cmocka_unit_test(several_candidates_fail_each_in_its_way),
      cmocka_unit_test(a_failure_is_not_tried_again),
      cmocka_unit_test(a_failing_naive_variant_ends_the_session),
      cmocka_unit_test(a_lost_device_ends_the_session),
      cmocka_unit_test(a_device_that_is_too_small_is_said),
  };
  return cmocka_run_group_tests(tests, tf_setup, tf_teardown);
}
