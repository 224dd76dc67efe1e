/* Verification end to end against the fake GPU: every fault must become its outcome, and the
 * candidate after it must be evaluated on its own. */
#include "measure_fixture.h"

#include "measure/measure_session.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_KERNELS 4

typedef struct world {
  sct_spec spec;
  sct_measure *m;
  fixture_kernel kernel[N_KERNELS]; /* 0: the naive variant */
} world;

static const int first_layout[SCT_MAX_OPERANDS];

static void open_spec(world *w, const char *script, const char *dims, const fixture_array *arrays,
                      int n_inputs, int n, const char *scalar, const char *body,
                      const int64_t *extents) {
  memset(w, 0, sizeof *w);
  const sct_measure_opts opts = {.fake = script, .seed = 11};
  fixture_spec(&w->spec, dims, arrays, n_inputs, n, scalar, body, extents);
  for (int k = 0; k < N_KERNELS; k++) {
    fixture_kernel_init(&w->kernel[k], &w->spec, k, 64 + 32 * k);
  }
  assert_ok(sct_measure_open(&w->m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(w->m, &w->spec, first_layout, &w->kernel[0].binary, &fixture_err));
}

static const fixture_array mixed[] = {{.name = "a", .types = "f64 f32 u8", .layout = FIXTURE_AOS},
                                      {.name = "b", .types = "f64 f32 u8", .layout = FIXTURE_AOS}};
static const int64_t thousand[] = {1000};

static void open_world(world *w, const char *script) {
  open_spec(w, script, "i", mixed, 1, 2, NULL, "b = a;", thousand);
}

static void close_world(world *w) {
  sct_measure_close(w->m);
  sct_spec_free(&w->spec);
}

static sct_verdict verify(world *w, int kernel) {
  sct_verdict v;
  assert_ok(sct_measure_verify(w->m, &w->kernel[kernel].binary, &v, &fixture_err));
  return v;
}

static void expect(world *w, int kernel, sct_outcome_kind outcome) {
  const sct_verdict v = verify(w, kernel);
  if (v.outcome != outcome) {
    print_error("kernel %d: %s (%s) instead of %s\n", kernel, sct_outcome_name(v.outcome), v.detail,
                sct_outcome_name(outcome));
  }
  assert_int_equal(v.outcome, outcome);
}

static void test_right_candidates_pass(void **state) {
  (void)state;
  world w;
  open_world(&w, "ok");
  for (int k = 0; k < N_KERNELS; k++) {
    expect(&w, k, SCT_OUT_OK);
  }
  assert_int_equal(w.m->generation, 1); /* one worker did it all */
  assert_true(w.m->cases.n > 10);
  close_world(&w);
}

static void test_each_fault_becomes_its_outcome(void **state) {
  (void)state;
  static const struct {
    const char *script; /* candidate 2 of 3 is bad */
    sct_outcome_kind outcome;
    const char *says;
  } cases[] = {
      {"wrong@2", SCT_OUT_WRONG_RESULT, "b"},
      {"wrong@2=9", SCT_OUT_WRONG_RESULT, "b"}, /* right at first */
      {"unwritten@2", SCT_OUT_NOT_WRITTEN, "not written"},
      {"guard@2", SCT_OUT_OUT_OF_BOUNDS, "behind its array"},
      {"before@2", SCT_OUT_OUT_OF_BOUNDS, "before its array"},
      {"gap@2", SCT_OUT_OK, ""}, /* padding of this layout may be overwritten */
      {"input@2", SCT_OUT_INPUT_CHANGED, "'a'"},
      {"stray@2", SCT_OUT_OUT_OF_BOUNDS, "not its own"}, /* of another size */
      {"crash@2", SCT_OUT_CRASH, "signal 9"},
      {"exit@2", SCT_OUT_CRASH, "exit status 3"},
      {"noload@2", SCT_OUT_LAUNCH_ERROR, "CUDA_ERROR_INVALID_IMAGE"},
      {"refuse701@2", SCT_OUT_TOO_LARGE, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {"refuse1@2", SCT_OUT_LAUNCH_ERROR, "CUDA_ERROR_INVALID_VALUE"},
      {"sticky700@2", SCT_OUT_ILLEGAL_ACCESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {"sticky716@2", SCT_OUT_MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS"},
      {"sticky719@2", SCT_OUT_TRAP, "CUDA_ERROR_LAUNCH_FAILED"},
      {"sticky715@2", SCT_OUT_TRAP, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
      {"sticky710@2", SCT_OUT_TRAP, "CUDA_ERROR_ASSERT"},
      {"sticky702@2", SCT_OUT_HANG, "CUDA_ERROR_LAUNCH_TIMEOUT"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    world w;
    open_world(&w, cases[k].script);
    expect(&w, 1, SCT_OUT_OK);
    const sct_verdict v = verify(&w, 2);
    if (v.outcome != cases[k].outcome || !strstr(v.detail, cases[k].says)) {
      print_error("%s: %s: %s\n", cases[k].script, sct_outcome_name(v.outcome), v.detail);
    }
    assert_int_equal(v.outcome, cases[k].outcome);
    assert_non_null(strstr(v.detail, cases[k].says));
    /* a worker that crashed, or cannot be trusted, is not asked again */
    const bool sticky = sct_has_prefix(cases[k].script, "sticky");
    assert_true(!sticky || !sct_child_alive(&w.m->worker));
    expect(&w, 3, SCT_OUT_OK);
    expect(&w, 2, cases[k].outcome); /* again, after a new worker too */
    expect(&w, 1, SCT_OUT_OK);
    close_world(&w);
  }
}

static const fixture_array pair_to_soa[] = {
    {.name = "a", .types = "f32 f32", .layout = FIXTURE_AOS},
    {.name = "b", .types = "f32 f32", .layout = FIXTURE_SOA}};
static const char computing[] = "b.x0 = a.x0 + k; b.x1 = a.x1 + k;";

/* What comes of a candidate does not depend on whether the arrays and results of its sizes are
 * there already, and after the first size that fails no other runs. */
static void test_known_sizes_change_nothing(void **state) {
  (void)state;
  static const char *const scripts[] = {"wrong@1=6 hang@1=7",
                                        "unwritten@1=3 crash@1=4",
                                        "guard@1=5 hang@1=6",
                                        "input@1=4",
                                        "refuse701@1=6",
                                        "sticky700@1=5",
                                        "crash@1=6",
                                        "exit@1=2",
                                        "wrong@1=11",
                                        "stray@1=7",
                                        "ok"};
  for (int k = 0; k < SCT_COUNT(scripts); k++) {
    world fresh, known;
    open_spec(&fresh, scripts[k], "i", pair_to_soa, 1, 2, "k", computing, thousand);
    open_spec(&known, scripts[k], "i", pair_to_soa, 1, 2, "k", computing, thousand);
    expect(&known, 0, SCT_OUT_OK); /* the naive variant's sizes are there */
    const sct_verdict a = verify(&fresh, 1), b = verify(&known, 1);
    assert_int_equal(a.outcome, b.outcome);
    assert_string_equal(a.detail, b.detail);
    assert_int_equal(sct_child_alive(&fresh.m->worker), sct_child_alive(&known.m->worker));
    assert_int_equal(fresh.m->generation, known.m->generation);
    assert_int_equal(a.outcome == SCT_OUT_OK, strcmp(scripts[k], "ok") == 0);
    expect(&known, 2, SCT_OUT_OK); /* and the next is evaluated on its own */
    close_world(&fresh);
    close_world(&known);
  }
}

/* ---- what a session holds ---- */

static const fixture_layout soa = FIXTURE_SOA;
static const fixture_array of_choices[] = {
    {.name = "a", .types = "f64 f32 u8", .layout = FIXTURE_AOS, .other = &soa},
    {.name = "b", .types = "f64 f32 u8", .layout = FIXTURE_AOS, .other = &soa}};

/* Cases whose images, or flags, are on the host. */
static size_t n_held(const world *w, bool flags) {
  size_t n = 0;
  for (size_t k = 0; k < w->m->cases.n; k++) {
    const sct_case *c = w->m->cases.all[k];
    n += flags ? c->flags[1] != NULL : c->image[0] || c->image[1];
  }
  return n;
}

/* Images that were sent are made again where the case is sent again or a result is wrong. */
static void test_images_that_were_sent_are_given_back(void **state) {
  (void)state;
  world w;
  open_world(&w, "ok");
  expect(&w, 1, SCT_OUT_OK);
  const int64_t held = w.m->cases.bytes;
  assert_true(held > 0);
  assert_int_equal(n_held(&w, false), 0);
  assert_int_equal(n_held(&w, true), 0);
  sct_child_kill(&w.m->worker);
  expect(&w, 1, SCT_OUT_OK);
  assert_int_equal(w.m->generation, 2);
  assert_int_equal(n_held(&w, false), 0);
  assert_int_equal(w.m->cases.bytes, held); /* not counted twice */
  sct_cases_drop(w.m);
  assert_int_equal(w.m->cases.bytes, 0);
  close_world(&w);
  open_world(&w, "wrong@2=6");
  expect(&w, 1, SCT_OUT_OK);
  const sct_verdict v = verify(&w, 2);
  assert_int_equal(v.outcome, SCT_OUT_WRONG_RESULT);
  assert_non_null(strstr(v.detail, " instead of "));
  assert_int_equal(n_held(&w, false), 1); /* the case that it failed at */
  expect(&w, 3, SCT_OUT_OK);
  close_world(&w);
}

/* What a kernel computes is what the naive variant gave, which is nowhere else. */
static void test_computed_outputs_are_held(void **state) {
  (void)state;
  world w;
  open_spec(&w, "wrong@2", "i", pair_to_soa, 1, 2, "k", computing, thousand);
  expect(&w, 1, SCT_OUT_OK);
  assert_true(n_held(&w, false) > 10);
  sct_child_kill(&w.m->worker);
  expect(&w, 1, SCT_OUT_OK);
  expect(&w, 2, SCT_OUT_WRONG_RESULT);
  close_world(&w);
}

/* Flags are asked for one by one. */
static void test_images_come_without_flags(void **state) {
  (void)state;
  world w;
  sct_case *c = NULL;
  const uint8_t *flags = NULL, *again = NULL;
  open_world(&w, "ok");
  sct_case_get(w.m, thousand, &c);
  assert_ok(sct_case_images(w.m, c, &fixture_err));
  assert_true(c->image[0] && c->image[1] && !c->flags[0] && !c->flags[1]);
  assert_ok(sct_case_flags(c, 1, &flags, &fixture_err));
  assert_int_equal(flags[0], SCT_BYTE_OWNED | SCT_BYTE_WRITTEN);
  assert_ok(sct_case_flags(c, 1, &again, &fixture_err));
  assert_ptr_equal(flags, again);
  close_world(&w);
}

/* Choices of layouts one after the other. */
static void test_choices_follow_one_another(void **state) {
  (void)state;
  world w;
  open_spec(&w, "wrong@2", "i", of_choices, 1, 2, NULL, "b = a;", thousand);
  for (int k = 0; k < 4; k++) {
    const int layout[SCT_MAX_OPERANDS] = {k / 2, k % 2};
    assert_ok(sct_measure_problem(w.m, &w.spec, layout, &w.kernel[0].binary, &fixture_err));
    assert_int_equal(w.m->cases.bytes, 0);
    expect(&w, 1, SCT_OUT_OK);
    expect(&w, 2, SCT_OUT_WRONG_RESULT);
  }
  close_world(&w);
}

/* At the size it hangs at, although that was asked for with others. */
static void test_a_hang_ends_at_its_limit(void **state) {
  (void)state;
  world w;
  open_world(&w, "wrong@2=6 hang@3=6");
  fixture_kernel_init(&w.kernel[3], &w.spec, 3, 128); /* at the same sizes as the other */
  expect(&w, 1, SCT_OUT_OK);
  const sct_verdict sixth = verify(&w, 2);
  const char *at = strstr(sixth.detail, "(n_i=");
  assert_non_null(at);
  char size[32];
  snprintf(size, sizeof size, "%.*s", (int)strcspn(at, ")"), at);
  const int64_t start = sct_now_ns();
  const sct_verdict v = verify(&w, 3);
  assert_int_equal(v.outcome, SCT_OUT_HANG);
  assert_true(sct_now_ns() - start >= 1900000000); /* not before: a slow kernel is no hang */
  assert_non_null(strstr(v.detail, "within 2 s"));
  assert_non_null(strstr(v.detail, size));
  expect(&w, 1, SCT_OUT_OK);
  assert_int_equal(w.m->generation, 2);
  close_world(&w);
}

/* A write into an array of a size that was already checked shows only in the last audit, of all
 * buffers. The last launch is found by trying later and later ones. */
static void test_strays_into_other_sizes_are_found(void **state) {
  (void)state;
  sct_verdict before = {.outcome = SCT_OUT_INPUT_CHANGED};
  for (int launch = 1; launch < 100; launch++) {
    world w;
    char script[32];
    snprintf(script, sizeof script, "stray@2=%d", launch);
    open_world(&w, script);
    expect(&w, 1, SCT_OUT_OK);
    const sct_verdict v = verify(&w, 2);
    expect(&w, 3, SCT_OUT_OK);
    close_world(&w);
    if (v.outcome == SCT_OUT_OK) { /* one launch too late: the one before was the last */
      assert_int_equal(before.outcome, SCT_OUT_OUT_OF_BOUNDS);
      assert_non_null(strstr(before.detail, "not its own"));
      return;
    }
    before = v;
  }
  fail_msg("it never passes");
}

static void test_a_hang_takes_its_children_along(void **state) {
  (void)state;
  world w;
  open_world(&w, "child@1");
  const pid_t group = w.m->worker.pid;
  expect(&w, 1, SCT_OUT_HANG);
  while (kill(-group, 0) == 0) { /* until init has collected it; ctest's limit ends a failure */
    usleep(1000);
  }
  assert_int_equal(errno, ESRCH);
  close_world(&w);
}

static void test_messages_name_element_and_values(void **state) {
  (void)state;
  world w;
  open_world(&w, "wrong@1");
  const sct_verdict v = verify(&w, 1);
  assert_int_equal(v.outcome, SCT_OUT_WRONG_RESULT);
  assert_non_null(strstr(v.detail, "b."));
  assert_non_null(strstr(v.detail, "of element i="));
  assert_non_null(strstr(v.detail, "(n_i="));
  assert_non_null(strstr(v.detail, " instead of 0x"));
  close_world(&w);
}

static void test_gaps_that_are_not_the_arrays_must_stay(void **state) {
  (void)state;
  const fixture_array pitched[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                   {.name = "b", .types = "f32", .layout = FIXTURE_PITCHED}};
  const int64_t n[] = {30, 50};
  world w;
  open_spec(&w, "gap@2", "row col", pitched, 1, 2, NULL, "b = a;", n);
  expect(&w, 1, SCT_OUT_OK);
  const sct_verdict v = verify(&w, 2);
  assert_int_equal(v.outcome, SCT_OUT_OUT_OF_BOUNDS);
  assert_non_null(strstr(v.detail, "between its elements"));
  expect(&w, 3, SCT_OUT_OK);
  close_world(&w);
}

static void test_every_layout_and_shape_of_problem(void **state) {
  (void)state;
  static const fixture_array scatter[] = {
      {.name = "pick", .types = "i64", .layout = FIXTURE_AOS},
      {.name = "a", .types = "f32 u16", .layout = FIXTURE_SOA},
      {.name = "b", .types = "f32 u16", .dims = "m", .at = "pick", .layout = FIXTURE_AOSOA}};
  static const fixture_array turn[] = {{.name = "a", .types = "bf16", .layout = FIXTURE_AOS},
                                       {.name = "b", .types = "bf16", .layout = FIXTURE_COL}};
  static const fixture_array shifted[] = {
      {.name = "a", .types = "f32x4", .at = "i + 1", .pad = 1, .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32x4", .at = "i + 2", .pad = 5, .layout = FIXTURE_AOS}};
  const int64_t n[] = {100, 150};
  world w;
  open_spec(&w, "unwritten@2", "i", scatter, 2, 3, NULL, "b = a;", n);
  expect(&w, 1, SCT_OUT_OK);
  expect(&w, 2, SCT_OUT_NOT_WRITTEN);
  close_world(&w);
  open_spec(&w, "wrong@2", "row col", turn, 1, 2, NULL, "b = a;", n);
  expect(&w, 1, SCT_OUT_OK);
  expect(&w, 2, SCT_OUT_WRONG_RESULT);
  close_world(&w);
  open_spec(&w, "guard@2", "i", shifted, 1, 2, NULL, "b = a;", n);
  expect(&w, 1, SCT_OUT_OK);
  expect(&w, 2, SCT_OUT_OUT_OF_BOUNDS);
  close_world(&w);
}

/* A body that computes has no host evaluation: the naive variant is the reference. */
static void test_bodies_that_compute(void **state) {
  (void)state;
  world w;
  open_spec(&w, "wrong@2 wrong@0=1000", "i", pair_to_soa, 1, 2, "k", computing, thousand);
  assert_int_equal(w.spec.n_moves, 0);
  expect(&w, 1, SCT_OUT_OK);
  expect(&w, 2, SCT_OUT_WRONG_RESULT);
  close_world(&w);
}

/* What the naive variant computes is taken; where it must not write is checked all the same. */
static void test_a_naive_variant_that_writes_too_much(void **state) {
  (void)state;
  const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                  {.name = "b", .types = "f32", .layout = FIXTURE_PITCHED}};
  const int64_t n[] = {30, 50};
  world w;
  open_spec(&w, "gap@0", "row col", arrays, 1, 2, "k", "b = a + k;", n);
  expect(&w, 0, SCT_OUT_OUT_OF_BOUNDS);
  close_world(&w);
}

static void test_the_naive_variant_is_checked_against_the_host(void **state) {
  (void)state;
  world w;
  sct_verdict v;
  open_world(&w, "wrong@0");
  assert_int_equal(sct_measure_verify(w.m, &w.kernel[1].binary, &v, &fixture_err),
                   SCT_ENOTVERIFIED);
  assert_non_null(strstr(fixture_err.text, "naive"));
  expect(&w, 0, SCT_OUT_WRONG_RESULT); /* asked for itself, it is a candidate like any other */
  assert_int_equal(sct_measure_verify(w.m, &w.kernel[1].binary, &v, &fixture_err),
                   SCT_ENOTVERIFIED);
  close_world(&w);
}

/* 12 or more to a piece: hardly a size qualifies; others are multiplied. */
static void test_requirements_multiply_sizes(void **state) {
  (void)state;
  world w;
  open_world(&w, "wrong@2=5");
  for (int k = 1; k < 4; k++) {
    sct_expr_pool *p = w.spec.pool;
    const sct_expr unit = sct_expr_const(p, k == 3 ? 100003 : 12);
    w.kernel[k].require[0] = sct_expr_binary(
        p, SCT_EXPR_EQ, sct_expr_mod(p, w.spec.extent_var[0], unit), sct_expr_const(p, 0));
    w.kernel[k].code.require = w.kernel[k].require;
    w.kernel[k].code.n_require = 1;
  }
  expect(&w, 1, SCT_OUT_OK);
  expect(&w, 2, SCT_OUT_WRONG_RESULT); /* at the sixth size: so there are that many */
  const sct_verdict v = verify(&w, 3);
  assert_int_equal(v.outcome, SCT_OUT_LAUNCH_ERROR); /* never "verified" without having run */
  assert_non_null(strstr(v.detail, "too few"));
  close_world(&w);
}

static bool has_run(const world *w, int64_t row, int64_t col) {
  bool found = false;
  for (size_t k = 0; k < w->m->cases.n; k++) {
    const sct_case *c = w->m->cases.all[k];
    found = found || (c->referenced && c->dims[0] == row && c->dims[1] == col);
  }
  return found;
}

/* What is required of one extent changes no other: it is taken 16 times or, where that is much, up
 * to the next multiple of 16. */
static void test_requirements_round_large_sizes(void **state) {
  (void)state;
  static const fixture_array copy[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                       {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  const int64_t extents[] = {100, 100};
  world w;
  open_spec(&w, "ok", "row col", copy, 1, 2, NULL, "b = a;", extents);
  sct_expr_pool *p = w.spec.pool;
  fixture_kernel_init(&w.kernel[1], &w.spec, 1, 400);
  w.kernel[1].require[0] =
      sct_expr_binary(p, SCT_EXPR_EQ, sct_expr_mod(p, w.spec.extent_var[1], sct_expr_const(p, 16)),
                      sct_expr_const(p, 0));
  w.kernel[1].code.require = w.kernel[1].require;
  w.kernel[1].code.n_require = 1;
  expect(&w, 1, SCT_OUT_OK);
  assert_true(has_run(&w, 803, 16) && has_run(&w, 1, 12848)); /* 2 * 400 + 3 and 16, or times 16 */
  assert_true(has_run(&w, 1205, 32) && has_run(&w, 5, 1216)); /* 3 * 400 + 5 and 2 * 16 or 5 */
  for (size_t k = 0; k < w.m->cases.n; k++) {
    const sct_case *c = w.m->cases.all[k];
    assert_true(!c->referenced || (c->dims[0] == 5 && c->dims[1] == 9232) /* long rows */ ||
                c->dims[0] * c->dims[1] <= 1205 * 32);
  }
  close_world(&w);
}

/* Every new size asks for the naive variant: it is loaded once, beside the candidate. */
static void test_the_naive_variant_stays_loaded(void **state) {
  (void)state;
  world w;
  open_world(&w, "ok");
  expect(&w, 1, SCT_OUT_OK);
  const int64_t naive = w.m->held.kept_naive.kernel, first = w.m->held.kept.kernel;
  const sct_hash loaded = w.m->held.kept_naive.loaded;
  assert_true(w.m->held.kept_naive.held && naive != first);
  expect(&w, 2, SCT_OUT_OK);
  expect(&w, 3, SCT_OUT_OK);
  expect(&w, 0, SCT_OUT_OK);
  assert_int_equal(w.m->held.kept_naive.kernel, naive);
  assert_int_equal(w.m->held.kept.kernel,
                   (naive > first ? naive : first) + 2); /* and nothing else */
  assert_ok(sct_measure_problem(w.m, &w.spec, first_layout, &w.kernel[3].binary, &fixture_err));
  expect(&w, 1, SCT_OUT_OK); /* one reference as good as another */
  assert_false(sct_hash_equal(w.m->held.kept_naive.loaded, loaded));
  sct_child_kill(&w.m->worker);
  expect(&w, 2, SCT_OUT_OK);
  close_world(&w);
}

/* In whatever order kernels come, their programs are sent once to each worker. */
static void test_programs_are_sent_once(void **state) {
  (void)state;
  world w;
  open_world(&w, "ok");
  for (int k = 0; k < 3 * N_KERNELS; k++) {
    expect(&w, (3 * k + 1) % N_KERNELS, SCT_OUT_OK);
  }
  assert_int_equal(w.m->held.n_sent, N_KERNELS);
  sct_child_kill(&w.m->worker);
  expect(&w, 2, SCT_OUT_OK);
  expect(&w, 1, SCT_OUT_OK);
  expect(&w, 2, SCT_OUT_OK);
  assert_int_equal(w.m->held.n_sent, N_KERNELS + 2); /* what the naive variant gives is known */
  close_world(&w);
}

/* Kernels of one grid and the same requirements share their list of sizes, others do not. */
static void test_equal_grids_share_their_sizes(void **state) {
  (void)state;
  world w;
  open_world(&w, "wrong@3=4");
  expect(&w, 1, SCT_OUT_OK);
  expect(&w, 2, SCT_OUT_OK);
  assert_int_equal(w.m->cases.n_lists, 2);
  fixture_kernel_init(&w.kernel[3], &w.spec, 3, 96); /* as the first */
  expect(&w, 3, SCT_OUT_WRONG_RESULT);
  assert_int_equal(w.m->cases.n_lists, 2);
  sct_expr_pool *p = w.spec.pool;
  w.kernel[1].require[0] =
      sct_expr_binary(p, SCT_EXPR_EQ, sct_expr_mod(p, w.spec.extent_var[0], sct_expr_const(p, 7)),
                      sct_expr_const(p, 0));
  w.kernel[1].code.require = w.kernel[1].require;
  w.kernel[1].code.n_require = 1;
  expect(&w, 1, SCT_OUT_OK);
  assert_int_equal(w.m->cases.n_lists, 3);
  w.kernel[2].code.threads = 128;
  expect(&w, 2, SCT_OUT_OK);
  assert_int_equal(w.m->cases.n_lists, 4);
  for (size_t k = 0; k < w.m->cases.n_lists; k++) {
    assert_true(w.m->cases.lists[k].n_full >= 3 &&
                w.m->cases.lists[k].n >= w.m->cases.lists[k].n_full);
  }
  close_world(&w);
}

static void test_too_large_is_known_without_a_launch(void **state) {
  (void)state;
  world w;
  open_world(&w, "crash@1");
  w.kernel[1].code.threads = 2048;
  expect(&w, 1, SCT_OUT_TOO_LARGE);
  close_world(&w);
}

static void test_a_lost_device_is_an_error_not_an_outcome(void **state) {
  (void)state;
  world w;
  sct_verdict v;
  open_world(&w, "refuse214@1");
  assert_int_equal(sct_measure_verify(w.m, &w.kernel[1].binary, &v, &fixture_err), SCT_EUNHEALTHY);
  assert_non_null(strstr(fixture_err.text, "CUDA_ERROR_ECC_UNCORRECTABLE"));
  close_world(&w);
  open_world(&w, "crash@1 gone=2");
  expect(&w, 2, SCT_OUT_CRASH);
  assert_int_equal(sct_measure_verify(w.m, &w.kernel[3].binary, &v, &fixture_err), SCT_EUNHEALTHY);
  assert_int_equal(fixture_err.code, SCT_EUNHEALTHY);
  assert_non_null(strstr(fixture_err.text, "no new worker"));
  close_world(&w);
}

/* A candidate is tried in a second worker before it is blamed for the end of the first. */
static void test_a_crash_is_seen_twice(void **state) {
  (void)state;
  world w;
  open_world(&w, "crash@1");
  expect(&w, 1, SCT_OUT_CRASH);
  assert_int_equal(w.m->generation, 2);
  expect(&w, 2, SCT_OUT_OK);
  assert_int_equal(w.m->generation, 3);
  close_world(&w);
}

/* A worker that dies between two launches takes nobody's verdict with it. */
static void test_a_worker_killed_from_outside_is_replaced(void **state) {
  (void)state;
  world w;
  open_world(&w, "ok");
  expect(&w, 1, SCT_OUT_OK);
  siginfo_t info;
  kill(w.m->worker.pid, SIGKILL);
  assert_int_equal(waitid(P_PID, (id_t)w.m->worker.pid, &info, WEXITED | WNOWAIT), 0);
  expect(&w, 2, SCT_OUT_OK);
  assert_int_equal(w.m->generation, 2);
  close_world(&w);
}

static void test_memory_does_not_grow_with_candidates(void **state) {
  (void)state;
  world w;
  open_world(&w, "memory=40000000"); /* a leak of a few hundred kilobytes a candidate would show */
  expect(&w, 1, SCT_OUT_OK);
  const int64_t held = w.m->cases.bytes;
  const size_t n_cases = w.m->cases.n;
  for (int k = 0; k < 30; k++) {
    expect(&w, 1, SCT_OUT_OK);
  }
  assert_int_equal(w.m->cases.bytes, held);
  assert_int_equal(w.m->cases.n, n_cases);
  for (int k = 0; k < 10; k++) { /* a new problem gives the memory of the old one back */
    assert_ok(sct_measure_problem(w.m, &w.spec, first_layout, &w.kernel[0].binary, &fixture_err));
    expect(&w, 2, SCT_OUT_OK);
  }
  assert_int_equal(w.m->generation, 1);
  close_world(&w);
}

static void test_a_full_device_is_an_error(void **state) {
  (void)state;
  world w;
  sct_verdict v;
  open_world(&w, "memory=600000");
  for (int k = 0; k < 3; k++) { /* what else lies there stays */
    sct_timing t;
    assert_ok(sct_measure_time(w.m, &w.kernel[1].binary, &w.spec.sizes[0], 1, &t, &fixture_err));
    assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
    sct_free(t.times.samples_ns);
    assert_int_equal(sct_measure_verify(w.m, &w.kernel[1].binary, &v, &fixture_err), SCT_ENOMEM);
    assert_non_null(strstr(fixture_err.text, "CUDA_ERROR_OUT_OF_MEMORY"));
  }
  assert_int_equal(w.m->generation, 1);
  close_world(&w);
}

/* ---- sessions ---- */

static void test_no_device(void **state) {
  (void)state;
  sct_measure *m = NULL;
  const sct_measure_opts none = {.fake = "none"}, two = {.fake = "devices=2"};
  assert_int_equal(sct_measure_open(&m, 0, &none, &fixture_err), SCT_ENODEVICE);
  assert_non_null(strstr(fixture_err.text, "driver"));
  assert_null(m);
  assert_int_equal(sct_measure_open(&m, 2, &two, &fixture_err), SCT_ENODEVICE);
  assert_ok(sct_measure_open(&m, 1, &two, &fixture_err));
  assert_string_equal(sct_measure_device(m)->id, "cuda:1");
  sct_verdict v;
  fixture_kernel k = {0};
  assert_int_equal(sct_measure_verify(m, &k.binary, &v, &fixture_err), SCT_EUSAGE);
  sct_measure_close(m);
}

static void test_lists(void **state) {
  (void)state;
  sct_device_desc *list = NULL;
  int n = 0;
  const sct_measure_opts two = {.fake = "devices=2"}, none = {.fake = "none"};
  const sct_measure_opts zero = {.fake = "devices=0"};
  assert_ok(sct_measure_list(&list, &n, &two, &fixture_err));
  assert_int_equal(n, 2);
  assert_string_equal(list[1].id, "cuda:1");
  assert_string_not_equal(list[0].uuid, list[1].uuid);
  sct_free(list);
  assert_ok(sct_measure_list(&list, &n, &none, &fixture_err));
  assert_int_equal(n, 0);
  assert_int_equal(fixture_err.code, SCT_ENODEVICE); /* no error, but the reason */
  assert_ok(sct_measure_list(&list, &n, &zero, &fixture_err));
  assert_int_equal(n, 0);
}

static void test_every_outcome_has_a_name(void **state) {
  (void)state;
  for (int a = 0; a < SCT_N_OUTCOMES; a++) {
    for (int b = 0; b < a; b++) {
      assert_string_not_equal(sct_outcome_name((sct_outcome_kind)a),
                              sct_outcome_name((sct_outcome_kind)b));
    }
    assert_true(strlen(sct_outcome_text((sct_outcome_kind)a)) > 5);
  }
  assert_string_equal(sct_outcome_name(SCT_OUT_WRONG_RESULT), "wrong_result");
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_right_candidates_pass),
      cmocka_unit_test(test_each_fault_becomes_its_outcome),
      cmocka_unit_test(test_known_sizes_change_nothing),
      cmocka_unit_test(test_images_that_were_sent_are_given_back),
      cmocka_unit_test(test_computed_outputs_are_held),
      cmocka_unit_test(test_images_come_without_flags),
      cmocka_unit_test(test_choices_follow_one_another),
      cmocka_unit_test(test_a_hang_ends_at_its_limit),
      cmocka_unit_test(test_strays_into_other_sizes_are_found),
      cmocka_unit_test(test_a_hang_takes_its_children_along),
      cmocka_unit_test(test_messages_name_element_and_values),
      cmocka_unit_test(test_gaps_that_are_not_the_arrays_must_stay),
      cmocka_unit_test(test_every_layout_and_shape_of_problem),
      cmocka_unit_test(test_bodies_that_compute),
      cmocka_unit_test(test_a_naive_variant_that_writes_too_much),
      cmocka_unit_test(test_the_naive_variant_is_checked_against_the_host),
      cmocka_unit_test(test_requirements_multiply_sizes),
      cmocka_unit_test(test_requirements_round_large_sizes),
      cmocka_unit_test(test_the_naive_variant_stays_loaded),
      cmocka_unit_test(test_programs_are_sent_once),
      cmocka_unit_test(test_equal_grids_share_their_sizes),
      cmocka_unit_test(test_too_large_is_known_without_a_launch),
      cmocka_unit_test(test_a_lost_device_is_an_error_not_an_outcome),
      cmocka_unit_test(test_a_crash_is_seen_twice),
      cmocka_unit_test(test_a_worker_killed_from_outside_is_replaced),
      cmocka_unit_test(test_memory_does_not_grow_with_candidates),
      cmocka_unit_test(test_a_full_device_is_an_error),
      cmocka_unit_test(test_no_device),
      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_every_outcome_has_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
