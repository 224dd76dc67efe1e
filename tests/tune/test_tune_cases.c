/* No candidate of a built-in strategy fails, whatever the spec: of every spec of tests/cases and
 * tuning/kernels some candidates of each strategy, drawn by a seed, are compiled and verified on
 * the virtual device, at odd sizes and around tile edges with every access checked. A candidate
 * that fails is a defect of its strategy, or a false alarm of the interpreter. A line
 * `-- try: LABEL` of a spec names one that is taken in any case, `-- no: LABEL` one that planning
 * must reject.
 *
 *   test_tune_cases [SPEC.lua|KERNEL|all [STEP [SEED]]]   one of a strategy's candidates, and one
 *                                                         more for each STEP of them; STEP 1: all;
 *                                                         KERNEL: of tuning/kernels
 *
 * By CTest it takes a part of the specs (tests/part.h). */
#include "measure/measure.h"
#include "part.h"
#include "tune_picked.h"

#include <dirent.h>

#define STEP      2000
#define MAX_SPECS 320

static int64_t step = STEP;
static uint64_t seed = PICKED_SEED;
static int64_t n_tried, n_failed; /* of all specs */

typedef struct work {
  fixture f;
  sct_measure *measure;
  picked *list;
  int n;
  sct_str failures;
} work;

static void failed(work *w, const picked *p, const char *how, const char *detail) {
  sct_str_printf(&w->failures, "'%s': %s: %s\n", p->label, how, detail);
  n_failed++;
}

/* ---- candidates ---- */

/* Lists the strategies that have candidates; returns how many there are. */
static int list_strategies(const work *w, int *list) {
  int n = 0;
  for (int strategy = 0; strategy < w->f.space.n_strategies; strategy++) {
    if (picked_count(&w->f, strategy) > 0) {
      list[n++] = strategy;
    }
  }
  return n;
}

/* Candidates of this strategy differ from the naive variant, which runs in any case, in their
 * threads and take longest: every third spec has one. */
static bool left_to_others(const work *w, int strategy, int n_strategies, int n_specs) {
  return n_strategies > 1 && n_specs % 3 != 0 &&
         strcmp(w->f.space.strategies[strategy].name, "direct") == 0;
}

/* Draws candidates of every strategy; for kernels that differ from others by a parameter, one
 * candidate of every third strategy, and of other strategies for the next spec. `n_specs`: how many
 * specs come before. */
static void draw(work *w, int n_specs, bool some) {
  int *list = sct_alloc(sizeof *list * (size_t)(w->f.space.n_strategies + 1));
  const int n = list_strategies(w, list);
  for (int k = 0; k < n; k++) {
    const bool is_next = k % 3 == n_specs % (n < 3 ? n : 3);
    if (step > 1 && left_to_others(w, list[k], n, n_specs)) {
      continue;
    }
    if (step == 1 || !some) {
      w->n = picked_draw(w->list, w->n, &w->f, list[k],
                         step == 1 ? 0 : picked_share(&w->f, list[k], step), seed);
    } else if (is_next) {
      w->n = picked_draw(w->list, w->n, &w->f, list[k], 1, seed);
    }
  }
  sct_free(list);
}

/* The candidates that the spec's own text names behind `mark`. */
static void add_named(work *w, const char *path, const char *mark, bool good) {
  sct_str text = {0};
  MUST(sct_file_read(&text, path, err));
  for (const char *at = strstr(sct_str_c(&text), mark); at; at = strstr(at, mark)) {
    at += strlen(mark);
    char *const label = sct_arena_strndup(&w->f.arena, at, strcspn(at, "\n"));
    sct_error why = {0};
    const int64_t c = sct_space_find(&w->f.space, label, 0, &why);
    if (c < 0 || picked_make(&w->list[w->n], &w->f, (size_t)c) != good) {
      fail_msg("%s: '%s' is %s: %s", path, label, good ? "no candidate" : "not rejected", why.text);
    }
    w->n += good;
  }
  sct_str_free(&text);
}

/* The naive variant of every choice of layouts that was drawn goes in front. */
static void add_naive(work *w) {
  const int drawn = w->n;
  for (int k = 0; k < drawn; k++) {
    const int64_t c = sct_codegen_naive(&w->f.spec, &w->f.space, w->list[k].code.layout);
    bool known = false;
    for (int other = drawn; other < w->n; other++) {
      known = known || memcmp(w->list[other].code.layout, w->list[k].code.layout,
                              sizeof(int) * (size_t)w->f.spec.n_operands) == 0;
    }
    assert_true(c >= 0);
    w->n += !known && picked_make(&w->list[w->n], &w->f, (size_t)c);
  }
  for (int a = 0, b = w->n - 1; a < b; a++, b--) {
    const picked one = w->list[a];
    w->list[a] = w->list[b];
    w->list[b] = one;
  }
}

static void compile(work *w) {
  sct_compile_unit *units = sct_alloc(sizeof *units * (size_t)(w->n + 1));
  sct_compiled *results = sct_alloc(sizeof *results * (size_t)(w->n + 1));
  assert_true(units && results);
  for (int k = 0; k < w->n; k++) {
    units[k] = (sct_compile_unit){w->list[k].code.source, w->list[k].code.kernel,
                                  w->list[k].code.n_params > 0};
  }
  MUST(sct_compiler_run(picked_compiler, units, w->n, results, NULL, NULL, err));
  for (int k = 0; k < w->n; k++) {
    w->list[k].compiled = results[k];
    if (!results[k].ok) {
      failed(w, &w->list[k], "did not compile", results[k].log);
    }
  }
  sct_free(units);
  sct_free(results);
}

/* ---- results ---- */

static sct_binary binary_of(const picked *p) {
  return (sct_binary){.code = &p->code,
                      .cubin = p->compiled.cubin,
                      .cubin_bytes = p->compiled.cubin_bytes,
                      .ptx = p->compiled.ptx,
                      .entry = p->compiled.entry};
}

/* The first with the layouts of candidate k is their naive variant. */
static int naive_of(const work *w, int k) {
  int n = 0;
  while (memcmp(w->list[n].code.layout, w->list[k].code.layout,
                sizeof(int) * (size_t)w->f.spec.n_operands) != 0) {
    n++;
  }
  return n;
}

/* Does the kernel fit none of the spec's own sizes? Then `tune` leaves it out. */
static bool is_left_out(const work *w, int k) {
  bool fits = false;
  for (int z = 0; z < w->f.spec.n_sizes; z++) {
    fits = fits || sct_codegen_fits(&w->f.spec, &w->list[k].code, &w->f.spec.sizes[z]);
  }
  return !fits;
}

static void verify(work *w, int k, int *problem) {
  const int naive = naive_of(w, k);
  const sct_binary reference = binary_of(&w->list[naive]), binary = binary_of(&w->list[k]);
  sct_error why = {0};
  if (naive != *problem) {
    MUST(sct_measure_problem(w->measure, &w->f.spec, w->list[k].code.layout, &reference, err));
    *problem = naive;
  }
  sct_verdict verdict;
  const sct_status status = sct_measure_verify(w->measure, &binary, &verdict, &why);
  if (status != SCT_OK) {
    failed(w, &w->list[k], "the naive variant is wrong", why.text);
  } else if (verdict.outcome != SCT_OUT_OK &&
             !(verdict.outcome == SCT_OUT_LAUNCH_ERROR && is_left_out(w, k))) {
    failed(w, &w->list[k], sct_outcome_text(verdict.outcome), verdict.detail);
  }
}

/* ---- the test of one spec ---- */

/* One by one: cmocka cuts long messages. */
static void print_lines(const char *text) {
  for (size_t n; *text != '\0'; text += n) {
    n = strcspn(text, "\n") + 1;
    print_error("%.*s", (int)n, text);
  }
}

/* `path`: a spec, or the name of a worked kernel. */
static void no_candidate_fails(void **state) {
  static int n_specs;
  const int number = n_specs++;
  if (!part_has(number)) {
    skip();
  }
  const char *path = *state;
  const bool is_file = sct_has_suffix(path, ".lua");
  work w = {0};
  MUST(is_file ? sct_script_load_spec(&w.f.spec, path, err) : worked_load(&w.f.spec, path, err));
  fixture_finish(&w.f);
  w.list = sct_alloc(sizeof *w.list * 3 * (w.f.space.n_candidates + 1));
  assert_non_null(w.list);
  draw(&w, number, !is_file && worked_find(path)->n_params > 0);
  if (is_file) {
    add_named(&w, path, "\n-- try: ", true);
    add_named(&w, path, "\n-- no: ", false);
  }
  add_naive(&w);
  compile(&w);
  const sct_measure_opts opts = {.seed = seed, .described = &w.f.device};
  MUST(sct_measure_open(&w.measure, 0, &opts, err));
  int problem = -1;
  for (int k = 0; k < w.n; k++) {
    if (w.list[k].compiled.ok && w.list[naive_of(&w, k)].compiled.ok) {
      verify(&w, k, &problem);
    }
  }
  n_tried += w.n;
  print_message("%s: %d of %zu candidates, seed %llu\n", path, w.n, w.f.space.n_candidates,
                (unsigned long long)seed);
  print_lines(sct_str_c(&w.failures));
  const bool none = w.failures.len == 0;
  sct_measure_close(w.measure);
  picked_free(w.list, w.n);
  sct_free(w.list);
  fixture_close(&w.f);
  sct_str_free(&w.failures);
  assert_true(none);
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

/* A test for every file of tests/cases that returns a kernel: layouts lie beside specs. */
static int list_tests(struct CMUnitTest *tests, int n, sct_arena *arena) {
  const char *folder = SCT_TESTS_DIR "/cases";
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
    const size_t len = strlen(e->d_name);
    sct_str text = {0};
    char *const path = sct_arena_printf(arena, "%s/%s", folder, e->d_name);
    if (len > 4 && strcmp(e->d_name + len - 4, ".lua") == 0) {
      MUST(sct_file_read(&text, path, err));
      if (strstr(sct_str_c(&text), "s.kernel")) {
        assert_in_range(n, 0, MAX_SPECS - 1);
        tests[n++] = (struct CMUnitTest){
            .name = path, .test_func = no_candidate_fails, .initial_state = path};
      }
    }
    sct_str_free(&text);
  }
  closedir(dir);
  qsort(tests, (size_t)n, sizeof *tests, by_name);
  return n;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_WORKER_ARG) == 0) {
    return sct_worker_main(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  struct CMUnitTest tests[MAX_SPECS] = {0};
  sct_arena arena = {0};
  int n = 0;
  if (argc > 1 && strcmp(argv[1], "all") != 0) {
    tests[n++] = (struct CMUnitTest){
        .name = argv[1], .test_func = no_candidate_fails, .initial_state = argv[1]};
  } else {
    n = list_tests(tests, n, &arena);
    assert_in_range(n + worked_count(), 0, MAX_SPECS);
    n = worked_tests(tests, n, no_candidate_fails, NULL, NULL);
  }
  step = argc > 2 && atoll(argv[2]) > 0 ? atoll(argv[2]) : STEP;
  seed = argc > 3 ? strtoull(argv[3], NULL, 10) : PICKED_SEED;
  const int bad = _cmocka_run_group_tests("specs", tests, (size_t)n, picked_setup, picked_teardown);
  print_message("%lld candidates, %lld failed, seed %llu\n", (long long)n_tried,
                (long long)n_failed, (unsigned long long)seed);
  sct_arena_free(&arena);
  return bad;
}
