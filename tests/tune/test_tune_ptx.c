/* Every worked spec, a spread of candidates of every strategy: compiled, run as PTX on the CPU at
 * odd sizes and around tile edges with every access checked. Results must be right without a
 * diagnosis. Broken tile edges, fold rules and swizzles end here. (test_tune_sampled.c: counts.)
 *
 *   test_tune_ptx [KERNEL|all [STRIDE]]   a worked kernel; every STRIDE-th candidate, 1: all
 */
#include "measure/measure.h"
#include "tune_picked.h"

#if SCT_SANITIZED
#define STRIDE  (3 * 113) /* a third of what the plain test has compiled, so its cache has most */
#define IS_FAST false
#else
#define STRIDE  113 /* of candidates; no divisor of any axis' length, so that axes take turns */
#define IS_FAST true
#endif
#define SEED 20251121

static int64_t stride = STRIDE;

/* One spec with the candidates picked from its space. */
typedef struct work {
  fixture f;
  sct_measure *measure;
  picked *list;
  int n;
  sct_str failures;
} work;

/* ---- picking and compiling ---- */

/* Candidate `c` is what others with its choice of layouts are held to. */
static bool is_naive(const work *w, size_t c) {
  const sct_spec *spec = &w->f.spec;
  int layout[SCT_MAX_OPERANDS] = {0};
  for (int op = 0, axis = 0; op < spec->n_operands; op++) {
    layout[op] = spec->operands[op].n_layouts > 1 ? w->f.space.candidates[c].value[axis++] : 0;
  }
  return sct_codegen_naive(spec, &w->f.space, layout) == (int64_t)c;
}

/* The naive variants, and the first that planning accepts of every strategy's every step-th
 * candidates. */
static void pick_all(work *w, int64_t step) {
  for (int strategy = 0; strategy < w->f.space.n_strategies; strategy++) {
    int64_t seen = 0;
    for (size_t c = 0; c < w->f.space.n_candidates; c++) {
      if (w->f.space.candidates[c].strategy == strategy) {
        const bool is_turn = seen % step == 0;
        if (is_turn || is_naive(w, c)) {
          const bool made = picked_make(&w->list[w->n], &w->f, c);
          w->n += made;
          seen -= is_turn && !made; /* turned down: the next one instead */
        }
        seen++;
      }
    }
  }
}

static void open_work(work *w, const char *name) {
  *w = (work){0};
  fixture_open(&w->f, name);
  w->list = sct_alloc(sizeof *w->list * w->f.space.n_candidates);
  assert_non_null(w->list);
  /* the specs of records differ from each other by numbers only, so do permutes */
  const bool alike = strncmp(name, "record", 6) == 0 || strncmp(name, "permute", 7) == 0;
  pick_all(w, alike ? 3 * stride : stride);
  picked_compile(w->list, w->n);
  const sct_measure_opts opts = {.seed = SEED, .described = &w->f.device};
  MUST(sct_measure_open(&w->measure, 0, &opts, err));
}

static void close_work(work *w) {
  sct_measure_close(w->measure);
  picked_free(w->list, w->n);
  sct_free(w->list);
  fixture_close(&w->f);
  sct_str_free(&w->failures);
}

/* ---- results ---- */

static sct_binary binary_of(const picked *p) {
  return (sct_binary){.code = &p->code,
                      .cubin = p->compiled.cubin,
                      .cubin_bytes = p->compiled.cubin_bytes,
                      .ptx = p->compiled.ptx,
                      .entry = p->compiled.entry};
}

static bool same_layouts(const work *w, int a, int b) {
  return memcmp(w->list[a].code.layout, w->list[b].code.layout,
                sizeof(int) * (size_t)w->f.spec.n_operands) == 0;
}

/* The first pick with the layouts of pick k: `direct` comes first, and it is the naive one. */
static int naive_of(const work *w, int k) {
  int n = 0;
  while (!same_layouts(w, n, k)) {
    n++;
  }
  assert_memory_equal(w->list[n].label, "direct", 6);
  return n;
}

static void verify_all(work *w) {
  int problem = -1;
  for (int k = 0; k < w->n; k++) {
    const int naive = naive_of(w, k);
    if (naive != problem) {
      const sct_binary reference = binary_of(&w->list[naive]);
      MUST(sct_measure_problem(w->measure, &w->f.spec, w->list[k].code.layout, &reference, err));
      problem = naive;
    }
    const sct_binary binary = binary_of(&w->list[k]);
    sct_verdict verdict;
    MUST(sct_measure_verify(w->measure, &binary, &verdict, err));
    if (verdict.outcome != SCT_OUT_OK) {
      sct_str_printf(&w->failures, "'%s': %s: %s\n", w->list[k].label,
                     sct_outcome_text(verdict.outcome), verdict.detail);
    }
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

static void results_are_right(void **state) {
  work w;
  open_work(&w, *state);
  verify_all(&w);
  print_message("%d of %zu candidates\n", w.n, w.f.space.n_candidates);
  if (w.failures.len > 0) {
    print_lines(sct_str_c(&w.failures));
  }
  assert_int_equal(w.failures.len, 0);
  close_work(&w);
}

/* ---- all of them ---- */

/* Specs of records differ in their sizes: under sanitizers two of the sizes stand for all. */
static bool is_left_out(const char *name) {
  return !IS_FAST && strncmp(name, "record", 6) == 0 && strncmp(name, "record28", 8) != 0 &&
         strncmp(name, "record36", 8) != 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_WORKER_ARG) == 0) {
    return sct_worker_main(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  struct CMUnitTest tests[SCT_COUNT(worked_kernels)];
  const bool one = argc > 1 && strcmp(argv[1], "all") != 0;
  const int n = worked_tests(tests, 0, results_are_right, one ? argv[1] : NULL, is_left_out);
  stride = argc > 2 && atoll(argv[2]) > 0 ? atoll(argv[2]) : STRIDE;
  return n > 0 ? _cmocka_run_group_tests("specs", tests, (size_t)n, picked_setup, picked_teardown)
               : 1;
}
