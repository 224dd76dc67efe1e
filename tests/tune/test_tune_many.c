/* Several tuners on one store at once, and stores that cannot take what a tuner finds. */
#include "tune_fixture.h"

#include <sys/wait.h>

#define N_TUNERS 8

/* Starts a process that tunes `spec` on a virtual device and exits with 0 if it succeeds. */
static pid_t start_tuner(const char *spec, const char *store) {
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid > 0) {
    return pid;
  }
  tf_run r = tf_new(NULL, store);
  sct_tune_report report = {0};
  sct_error err = {0};
  r.opts.device = "virtual:h200";
  const sct_status status = sct_tune_run(&report, spec, &r.opts, NULL, &err);
  if (status != SCT_OK) {
    fprintf(stderr, "%s: %s\n", spec, err.text);
  }
  _exit(status == SCT_OK && report.sizes[0].rows[0].winner ? 0 : 1);
}

static void finish_tuners(const pid_t *pids) {
  for (int k = 0; k < N_TUNERS; k++) {
    int status = 0;
    assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
}

static const char *spec_of(int k) {
  const char *text =
      tf_replace(TF_COPY("{ i = 4096 }"), "\"move\"", sct_arena_printf(&tf_arena, "\"move%d\"", k));
  return tf_write(sct_arena_printf(&tf_arena, "spec%d.lua", k), text);
}

/* Each has a spec of its own: every row of all is there, and every run has its winner. */
static void eight_tuners_lose_no_row(void **state) {
  (void)state;
  pid_t pids[N_TUNERS];
  for (int k = 0; k < N_TUNERS; k++) {
    pids[k] = start_tuner(spec_of(k), "many.db");
  }
  finish_tuners(pids);
  assert_int_equal(tf_ask("many.db", "SELECT count(*) FROM problem"), N_TUNERS);
  assert_int_equal(tf_ask("many.db", "SELECT count(*) FROM device"), 1);
  assert_int_equal(tf_ask("many.db", "SELECT count(*) FROM run WHERE winner > 0 AND naive > 0 AND "
                                     "n_candidates = 3 AND finished > ''"),
                   N_TUNERS);
  assert_int_equal(tf_ask("many.db", "SELECT count(*) FROM outcome WHERE outcome = 'ok' AND "
                                     "predicted_ns > 0"),
                   3 * N_TUNERS);
  assert_int_equal(tf_ask("many.db", "SELECT count(*) FROM earlier"), 0);
  assert_int_equal(tf_ask("many.db", "SELECT count(*) FROM pragma_integrity_check "
                                     "WHERE integrity_check <> 'ok'"),
                   0);
}

/* All have the same: one row a candidate, whoever was first. */
static void eight_tuners_of_one_spec_agree(void **state) {
  (void)state;
  pid_t pids[N_TUNERS];
  const char *spec = spec_of(0);
  for (int k = 0; k < N_TUNERS; k++) {
    pids[k] = start_tuner(spec, "one.db");
  }
  finish_tuners(pids);
  assert_int_equal(tf_ask("one.db", "SELECT count(*) FROM problem"), 1);
  assert_int_equal(tf_ask("one.db", "SELECT count(*) FROM run"), 1);
  assert_int_equal(tf_ask("one.db", "SELECT count(*) FROM outcome"), 3);
  assert_int_equal(tf_ask("one.db", "SELECT count(*) FROM earlier"), 0);
}

/* What cannot be kept is said before anything is measured. */
static void a_store_that_cannot_be_written_ends_it_early(void **state) {
  (void)state;
  tf_run r = tf_new("ok", "newer.db");
  tf_tune_ok(&r, TF_COPY("{ i = 4096 }"));
  assert_int_equal(tf_ask("newer.db", "PRAGMA user_version = 99"), -1);
  tf_tune(&r, TF_COPY("{ i = 4096 }"));
  assert_int_equal(r.status, SCT_EDATA);
  assert_non_null(strstr(r.err.text, "newer version of sectile (schema 99"));
  assert_int_equal(r.n_time, 0);
  tf_write("file", "x");
  r.opts.store_path = tf_path("file/store.db"); /* its folder is none */
  tf_tune(&r, TF_COPY("{ i = 4096 }"));
  assert_int_equal(r.status, SCT_EIO);
  assert_int_equal(r.n_time, 0);
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eight_tuners_lose_no_row),
      cmocka_unit_test(eight_tuners_of_one_spec_agree),
      cmocka_unit_test(a_store_that_cannot_be_written_ends_it_early),
  };
  return cmocka_run_group_tests(tests, tf_setup, tf_teardown);
}
