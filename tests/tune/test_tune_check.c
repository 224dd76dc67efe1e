/* Candidates pass the virtual device before a GPU gets them. The fake GPU runs no code and notices
 * nothing, so whatever is found here was found by the interpreter; what the fake timed was sent. */
#include "tune_fixture.h"

#include <dirent.h>
#include <sys/resource.h>

#define SPEC  TF_COPY("{ i = 4096 }")
#define GUARD "if (thread >= $(count)) return;" /* of direct.cu */

/* The arrays' parameters. */
#define FROM "$(g.inputs[1].pointer)"
#define TO   "$(g.outputs[1].pointer)"

typedef struct misdeed {
  const char *name, *code; /* in place of GUARD */
  const char *outcome, *detail;
} misdeed;

static const misdeed misdeeds[] = {
    {"tail", "if (thread >= $(count) - 1) return;", "not_written", "not written"},
    {"edge", "if (thread >= $(count) + 1) return;", "out_of_bounds", "reads 4 bytes"},
    {"racy",
     "__shared__ volatile int seen;\n  seen = threadIdx.x;\n"
     "  if (thread >= $(count) || seen < 0) return;",
     "race", "shared"},
    {"off", GUARD "\n  if (thread == 32) { " TO "[thread] = " FROM "[thread - 1]; return; }",
     "wrong_result", "i=32"},
};

/* The naive strategy with another guard in its template. */
static void add_misdeed(const misdeed *m) {
  sct_str text = {0};
  sct_error err;
  if (sct_asset_read(&text, "templates/direct.cu", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  tf_write(sct_arena_printf(&tf_arena, "assets/templates/%s.cu", m->name),
           tf_replace(sct_str_c(&text), GUARD, m->code));
  sct_str_free(&text);
  tf_add_strategy("wrong", m->name,
                  tf_replace(tf_strategy(m->name, "{ 64 }"), "template = \"direct.cu\"",
                             sct_arena_printf(&tf_arena, "template = \"%s.cu\"", m->name)));
}

static const char *label_of(const misdeed *m) {
  return sct_arena_printf(&tf_arena, "%s", m->name);
}

static void add_all(void) {
  for (int k = 0; k < SCT_COUNT(misdeeds); k++) {
    add_misdeed(&misdeeds[k]);
  }
}

/* Is a candidate of this name among those the fake timed? */
static bool was_timed(const tf_run *r, const char *label) {
  for (int k = 0; k < r->report.sizes[0].n_rows; k++) {
    const sct_tune_row *row = &r->report.sizes[0].rows[k];
    if (strcmp(row->label, label) == 0) {
      return row->outcome.times.median_ns > 0;
    }
  }
  return false;
}

static void what_a_gpu_would_not_notice_is_caught(void **state) {
  (void)state;
  add_all();
  tf_run r = tf_new("slow@0=2 slow@1=3 slow@2=4", "check.db");
  r.opts.strategy_dir = tf_path("wrong");
  tf_tune_ok(&r, SPEC);
  for (int k = 0; k < SCT_COUNT(misdeeds); k++) {
    const sct_tune_row *row = tf_row(&r, 0, label_of(&misdeeds[k]));
    tf_assert_outcome(&r, 0, row->label, misdeeds[k].outcome);
    if (!row->outcome.detail || !strstr(row->outcome.detail, misdeeds[k].detail)) {
      fail_msg("%s: %s", row->label, row->outcome.detail ? row->outcome.detail : "no detail");
    }
    assert_false(was_timed(&r, row->label) || row->winner);
  }
  tf_assert_winner(&r, 0, "direct t256");
  assert_int_equal(r.report.n_checked, 3 + SCT_COUNT(misdeeds));
  assert_int_equal(r.report.n_caught, SCT_COUNT(misdeeds));
  assert_int_equal(r.n_check, 3 + SCT_COUNT(misdeeds));
  assert_int_equal(r.report.sizes[0].n_verified, 3);
  /* an outcome like others: stored, and not tried again */
  tf_tune_ok(&r, SPEC);
  tf_assert_outcome(&r, 0, "racy", "race");
  assert_int_equal(r.n_check, 0);
  assert_int_equal(r.report.n_checked, 0);
  tf_free(&r);
}

/* Without the check on the CPU the fake GPU accepts them all, and the fastest wrong one wins: it is
 * the check that finds them. */
static void without_the_check_they_reach_the_gpu(void **state) {
  (void)state;
  add_all();
  tf_run r = tf_new("slow@0=2 slow@1=3 slow@2=4", NULL);
  r.opts.strategy_dir = tf_path("wrong");
  r.opts.no_check = true;
  tf_tune_ok(&r, SPEC);
  for (int k = 0; k < SCT_COUNT(misdeeds); k++) {
    tf_assert_outcome(&r, 0, label_of(&misdeeds[k]), "ok");
    assert_true(was_timed(&r, label_of(&misdeeds[k])));
  }
  assert_int_equal(r.n_check, 0);
  assert_int_equal(r.report.n_checked, 0);
  tf_free(&r);
}

/* PTX that loads twice, of which ptxas makes one load. */
#define LOAD(x)                                                                                    \
  "asm volatile(\"ld.global.nc.f32 %0, [%1];\" : \"=f\"(" x ") : \"l\"(" FROM " + thread));\n  "
static const misdeed merging = {
    "merging",
    GUARD "\n  float x = 0, y = 0;\n  " LOAD("x")
        LOAD("y") "if ($(count) >= 0) {\n    " TO
                  "[thread] = __int_as_float(__float_as_int(x) & __float_as_int(y));\n"
                  "    return;\n  }",
    "ok", "executed counts may differ"};

/* Who checks counts too, and looks at the machine code; both are what the session itself would
 * get. */
static void counts_do_not_depend_on_who_counts(void **state) {
  (void)state;
  add_misdeed(&merging);
  tf_run with = tf_new("ok", NULL), without = tf_new("ok", NULL);
  with.opts.strategy_dir = without.opts.strategy_dir = tf_path("wrong");
  without.opts.no_check = true;
  tf_tune_ok(&with, SPEC);
  tf_tune_ok(&without, SPEC);
  assert_true(with.report.n_checked > 2);
  assert_int_equal(with.report.sizes[0].n_rows, without.report.sizes[0].n_rows);
  int n_merged = 0;
  for (int k = 0; k < with.report.sizes[0].n_rows; k++) {
    const sct_tune_row *a = &with.report.sizes[0].rows[k];
    const sct_tune_row *b = tf_row(&without, 0, a->label);
    assert_true(a->counted && b->counted);
    const bool merges = strcmp(a->label, label_of(&merging)) == 0; /* past the accessors */
    n_merged += merges && a->approximate && strstr(a->approximate, merging.detail);
    assert_true(sct_row_sectors(&a->outcome) > 0);
    assert_true(sct_row_sectors(&a->outcome) == sct_row_sectors(&b->outcome));
    assert_true(sct_tune_row_loads(a) == sct_tune_row_loads(b));
    assert_true(sct_tune_row_stores(a) == sct_tune_row_stores(b));
    assert_true(a->outcome.predicted_ns == b->outcome.predicted_ns);
    assert_int_equal(a->outcome.how.coalesced, b->outcome.how.coalesced);
    assert_string_equal(a->approximate ? a->approximate : "", b->approximate ? b->approximate : "");
  }
  assert_int_equal(n_merged, 1);
  tf_free(&with);
  tf_free(&without);
}

/* More than a program takes, so a process is told of several, one after the other; every other
 * candidate leaves out the last element. */
static void each_is_evaluated_by_its_own_program(void **state) {
  (void)state;
  enum { SOME = 40 };
  for (int k = 0; k < SOME; k++) {
    const misdeed m = {sct_arena_printf(&tf_arena, "alone%d", k),
                       sct_arena_printf(&tf_arena,
                                        "const int left_out = %d;\n"
                                        "  if (thread >= $(count) - left_out) return; // %d",
                                        k % 2, k),
                       "", ""};
    add_misdeed(&m);
  }
  tf_run r = tf_new("ok", NULL);
  r.opts.strategy_dir = tf_path("wrong");
  tf_tune_ok(&r, SPEC);
  for (int k = 0; k < SOME; k++) {
    tf_assert_outcome(&r, 0, sct_arena_printf(&tf_arena, "alone%d", k),
                      k % 2 ? "not_written" : "ok");
  }
  assert_int_equal(r.report.n_checked, 3 + SOME);
  assert_int_equal(r.report.n_caught, SOME / 2);
  tf_free(&r);
}

/* A few of these make a large program. */
#define WORDS "nothing but words, nothing but words, nothing but words, nothing but words; "
#define MORE  WORDS WORDS WORDS WORDS WORDS WORDS WORDS WORDS
static const misdeed wordy = {"wordy", "asm volatile(\"// " MORE MORE "\");\n  " GUARD, "ok", ""};

/* Each process finds cubin and PTX in what it is sent. */
static void large_programs_are_checked(void **state) {
  (void)state;
  add_misdeed(&misdeeds[0]);
  add_misdeed(&wordy);
  tf_add_strategy("wrong", wordy.name,
                  tf_replace(tf_strategy(wordy.name, "{ 32, 64, 96, 160, 192, 224, 288, 320, 352, "
                                                     "384, 416, 448, 480, 544, 576, 608 }"),
                             "template = \"direct.cu\"", "template = \"wordy.cu\""));
  tf_run r = tf_new("ok", NULL);
  r.opts.cache_dir = "";
  r.opts.strategy_dir = tf_path("wrong");
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.n_checked, 3 + 1 + 16);
  assert_int_equal(r.report.n_caught, 1);
  tf_assert_outcome(&r, 0, "tail", "not_written");
  tf_assert_outcome(&r, 0, "wordy t608", "ok");
  for (int i = 0; i < r.report.sizes[0].n_rows; i++) { /* its cubin is found too */
    const char *doubt = r.report.sizes[0].rows[i].approximate;
    assert_false(doubt && strstr(doubt, "machine code"));
  }
  tf_free(&r);
}

/* What the interpreter does not know is no failure: the GPU decides. */
static void what_is_unknown_is_left_to_the_gpu(void **state) {
  (void)state;
  static const misdeed unknown = {
      "unknown", "asm volatile(\"nanosleep.u32 1;\\n  griddepcontrol.wait;\");\n  " GUARD, "ok",
      ""};
  add_misdeed(&unknown);
  tf_run r = tf_new("slow@0=2 slow@1=3 slow@2=4", NULL);
  r.opts.strategy_dir = tf_path("wrong");
  r.opts.select_any = true; /* it is not counted, so nobody knows whether it is coalesced */
  tf_tune_ok(&r, SPEC);
  tf_assert_outcome(&r, 0, "unknown", "ok");
  tf_assert_winner(&r, 0, "unknown");
  assert_int_equal(r.report.n_checked, 3);
  assert_int_equal(r.report.n_caught, 0);
  tf_free(&r);
}

/* A naive variant that misbehaves leaves nothing to compare with: its diagnosis is the message, and
 * the GPU runs nothing. */
static void a_naive_variant_that_fails_is_said(void **state) {
  (void)state;
  misdeed naive = misdeeds[2];
  naive.name = "direct";
  add_misdeed(&naive);
  tf_run r = tf_new("ok", NULL);
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_ENOTVERIFIED);
  assert_non_null(strstr(r.err.text, "the naive variant"));
  assert_non_null(strstr(r.err.text, "race for the same memory"));
  assert_int_equal(r.n_time + r.n_verify, 0);
  assert_int_equal(r.report.n_caught, 3); /* those with other thread counts stand in for it first */
  tf_free(&r);
}

static void stopping_ends_the_check(void **state) {
  (void)state;
  tf_run r = tf_new("ok", NULL);
  r.stop_at_check = 1;
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EINTERRUPTED);
  assert_int_equal(r.n_time, 0);
  assert_true(r.n_check >= 1);
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_a_gpu_would_not_notice_is_caught, tf_setup, tf_teardown),
      cmocka_unit_test_setup_teardown(counts_do_not_depend_on_who_counts, tf_setup, tf_teardown),
      cmocka_unit_test_setup_teardown(without_the_check_they_reach_the_gpu, tf_setup, tf_teardown),
      cmocka_unit_test_setup_teardown(each_is_evaluated_by_its_own_program, tf_setup, tf_teardown),
      cmocka_unit_test_setup_teardown(large_programs_are_checked, tf_setup, tf_teardown),
      cmocka_unit_test_setup_teardown(what_is_unknown_is_left_to_the_gpu, tf_setup, tf_teardown),
      cmocka_unit_test_setup_teardown(a_naive_variant_that_fails_is_said, tf_setup, tf_teardown),
      cmocka_unit_test_setup_teardown(stopping_ends_the_check, tf_setup, tf_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
