/* Every worked spec, a spread of candidates of every strategy: compiled, run as PTX on the CPU at
 * odd sizes and around tile edges with every access checked, and counted. Two things must hold:
 * results are right without a diagnosis, and what the model counted from the expressions is what
 * the interpreter saw. Broken tile edges, fold rules and swizzles end here.
 *
 *   test_tune_ptx [SPEC|all [STRIDE]]   one spec of tuning/kernels; every STRIDE-th candidate, 1:
 * all
 */
#include "measure/measure_data.h"
#include "model/model.h"
#include "tune_picked.h"

#include <dirent.h>

#if SCT_SANITIZED
#define STRIDE  (3 * 113) /* a third of what the plain test has compiled, so its cache has most */
#define IS_FAST false
#else
#define STRIDE  113 /* of candidates; no divisor of any axis' length, so that axes take turns */
#define IS_FAST true
#endif
#define MAX_SPECS 128
#define POISON    0xa5
#define SEED      20251121

static int64_t stride = STRIDE;

/* One spec with the candidates picked from its space. */
typedef struct work {
  fixture f;
  sct_measure *measure;
  picked *list;
  int n;
  int n_stated, n_compared; /* candidates that state accesses; sizes they were compared at */
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

/* ---- counts ---- */

/* Sizes to count at. Whole warps everywhere, so that all counts must agree; and a ragged one: there
 * the compiler may unroll a loop that lanes of a warp leave at different times, which makes more
 * requests of the same accesses. Both have a rest in the last tile where the kernel allows one. The
 * last ones are for kernels that want rows off a word: such a row has a rest of 0 to 3 elements
 * behind whole tiles and what it begins with. */
static const struct small {
  bool ragged;
  int64_t tries[5][2]; /* of the only dimension, or of the last two */
} smalls[] = {{false, {{1, 992}, {160, 96}, {192, 2048}, {8, 16}, {37, 8195}}},
              {true, {{1, 1000}, {130, 99}, {132, 1020}, {12, 20}, {37, 301}}}};

/* Of more than two dimensions, which have the tries' extents beside the last: the one before it,
 * and the first, which permutes may store along. The others are short: odd, or whole words. */
enum { PLACES = 2, SHORT = 3, MANY = 1 << 19 };

static bool shape_of(sct_shape *out, const sct_plan *plan, const sct_kernel_code *code,
                     const int64_t tries[2], int place, int64_t others) {
  const sct_spec *spec = plan->spec;
  int64_t extent[SCT_MAX_EXTENTS], elements = 1;
  for (int d = 0; d < spec->n_dims; d++) {
    const bool beside = d == (place == 0 ? spec->n_dims - 2 : 0);
    extent[d] = d == spec->n_dims - 1 ? tries[1] : beside ? tries[0] : others;
    elements *= extent[d];
  }
  if (elements > MANY) {
    return false;
  }
  for (int factor = 1; factor <= 4; factor++) {
    for (int k = spec->n_dims; k < spec->n_extents; k++) {
      extent[k] = factor * elements;
    }
    const sct_size size = {.extent = extent};
    MUST(sct_shape_init(out, plan, extent, NULL, err));
    sct_shape_index(out);
    if (sct_codegen_fits(spec, code, &size) && sct_shape_is_legal(out)) {
      return true;
    }
    sct_shape_free(out);
  }
  return false;
}

/* The first of the tries that the kernel and the spec allow; false: none. */
static bool small_shape(sct_shape *out, const sct_plan *plan, const sct_kernel_code *code,
                        const struct small *small, int place) {
  for (int64_t others = SHORT; others <= SHORT + 1; others++) {
    for (int t = 0; t < SCT_COUNT(small->tries); t++) {
      if (shape_of(out, plan, code, small->tries[t], place, others)) {
        return true;
      }
    }
  }
  return false;
}

static void add_array(picked_run *r, const sct_shape *s, int op) {
  const sct_spec *spec = s->plan->spec;
  uint8_t *content = NULL, *flags = NULL;
  if (op < spec->n_inputs) {
    MUST(sct_image_input(&content, s, op, err));
  } else {
    content = sct_alloc((size_t)s->op[op].bytes + 1);
    assert_non_null(content);
    memset(content, POISON, (size_t)s->op[op].bytes);
    MUST(sct_image_flags(&flags, s, op, err));
  }
  for (int64_t k = 0; flags && k < s->op[op].bytes; k++) {
    flags[k] = (flags[k] & SCT_BYTE_WRITTEN) != 0;
  }
  const sct_ptx_buffer buffer = {.name = spec->operands[op].name,
                                 .bytes = s->op[op].bytes,
                                 .data = content,
                                 .required = flags,
                                 .read_only = op < spec->n_inputs};
  picked_run_add_buffer(r, &buffer);
  sct_free(content);
  sct_free(flags);
}

static void add_bulk(sct_ptx_global *to, const sct_ptx_global *bulk) {
  to->requests += bulk->requests;
  to->sectors += bulk->sectors;
  to->sectors_ideal += bulk->sectors_ideal;
  to->tags += bulk->tags;
  to->distinct_bytes += bulk->distinct_bytes;
}

static void run_counted(sct_ptx_counters *out, const sct_shape *s, const picked *p) {
  const sct_spec *spec = s->plan->spec;
  picked_run r;
  picked_run_open(&r, p, spec, s->extent);
  for (int op = 0; op < spec->n_operands; op++) {
    add_array(&r, s, op);
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    uint8_t value[16] = {0};
    sct_data_scalar(value, spec->scalars[k].type, SEED, k);
    picked_run_add(&r, value, sizeof value);
  }
  picked_run_add_extents(&r);
  (void)picked_run_add_workspace(&r);
  *out = picked_run_launch(&r, "counted");
  const sct_ptx_global load = out->bulk_load, store = out->bulk_store;
  add_bulk(&out->load, &load); /* the model has them in one */
  add_bulk(&out->store, &store);
  picked_run_close(&r);
}

/* Whether the compiler may merge single accesses of neighbouring fields into a wider one: two of
 * them fit into a word that the record's alignment allows; or, in shared memory, where tiles start
 * at multiples of 16, that the record's size allows. */
static bool may_merge(const sct_spec *spec, bool shared) {
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_record *r = &spec->operands[op].record;
    for (int f = 1; f < r->n_fields; f++) {
      const sct_field *a = &r->fields[f - 1], *b = &r->fields[f];
      const int64_t end = b->offset + sct_type_get(b->type)->bytes;
      const int64_t aligned = shared && r->bytes % (end - a->offset) == 0 ? 16 : r->align;
      if (a->offset + sct_type_get(a->type)->bytes == b->offset && end - a->offset <= aligned) {
        return true;
      }
    }
  }
  return false;
}

/* One direction of global memory. Merged accesses leave the bytes as they are; requests and sectors
 * can only become fewer. */
static bool agree(const sct_count *model, const sct_ptx_global *ptx, bool ragged, bool merging) {
  if (ptx->distinct_bytes != model->distinct_bytes) {
    return false;
  }
  if (merging) {
    return ragged || (ptx->requests <= model->requests && ptx->sectors <= model->sectors);
  }
  return ragged || (ptx->requests == model->requests && ptx->sectors == model->sectors &&
                    ptx->sectors_ideal == model->sectors_ideal && ptx->tags == model->tags);
}

static bool agree_shared(int64_t model, const sct_ptx_shared *ptx, bool ragged, bool merging) {
  return ragged || model == ptx->wavefronts || (merging && ptx->wavefronts < model);
}

static void print_count(sct_str *out, const char *what, const sct_count *m,
                        const sct_ptx_global *p) {
  sct_str_printf(out, " %s: requests %lld | %lld, sectors %lld | %lld, distinct bytes %lld | %lld;",
                 what, (long long)m->requests, (long long)p->requests, (long long)m->sectors,
                 (long long)p->sectors, (long long)m->distinct_bytes, (long long)p->distinct_bytes);
}

static void compare_at(work *w, const picked *p, const sct_shape *shape, bool ragged) {
  const sct_size size = {
      .label = "small", .extent = (int64_t *)shape->extent, .fill = (sct_fill *)shape->fill};
  sct_counters model;
  sct_ptx_counters ptx;
  MUST(sct_model_count(&model, &w->f.spec, &p->code, &size, INT64_MAX, err));
  assert_int_equal(model.blocks_counted, model.blocks);
  run_counted(&ptx, shape, p);
  const bool merging = may_merge(&w->f.spec, false), in_shared = may_merge(&w->f.spec, true);
  if (!agree(&model.load, &ptx.load, ragged, merging) ||
      !agree(&model.store, &ptx.store, ragged, merging) ||
      !agree_shared(model.wavefronts_ld, &ptx.shared_load, ragged, in_shared) ||
      !agree_shared(model.wavefronts_st, &ptx.shared_store, ragged, in_shared)) {
    sct_str_printf(&w->failures, "'%s' at ", p->label);
    sct_shape_label(&w->failures, shape);
    sct_str_append(&w->failures, ", model | PTX:");
    print_count(&w->failures, "loads", &model.load, &ptx.load);
    print_count(&w->failures, "stores", &model.store, &ptx.store);
    sct_str_printf(&w->failures, " shared wavefronts %lld | %lld and %lld | %lld\n",
                   (long long)model.wavefronts_ld, (long long)ptx.shared_load.wavefronts,
                   (long long)model.wavefronts_st, (long long)ptx.shared_store.wavefronts);
  }
  sct_counters_free(&model);
}

static void compare_counts(work *w, const picked *p) {
  sct_plan plan;
  if (!p->code.counted) { /* what it accesses is taken from its PTX: test_tune_sampled.c */
    return;
  }
  w->n_stated++;
  MUST(sct_plan_init(&plan, &w->f.spec, p->code.layout, SEED, err));
  bool whole_warps = false;
  const int places = w->f.spec.n_dims > 2 ? PLACES : 1;
  for (int k = 0; k < places * SCT_COUNT(smalls); k++) {
    const struct small *small = &smalls[k % SCT_COUNT(smalls)];
    sct_shape shape;
    if (small_shape(&shape, &plan, &p->code, small, k / SCT_COUNT(smalls))) {
      compare_at(w, p, &shape, small->ragged);
      whole_warps = whole_warps || !small->ragged;
      w->n_compared++;
      sct_shape_free(&shape);
    }
  }
  if (!whole_warps) { /* a kernel may want whole tiles, but not more than that */
    sct_str_printf(&w->failures, "'%s': no small size for it\n", p->label);
  }
  sct_plan_free(&plan);
}

/* ---- the test of one spec ---- */

/* One by one: cmocka cuts long messages. */
static void print_lines(const char *text) {
  for (size_t n; *text != '\0'; text += n) {
    n = strcspn(text, "\n") + 1;
    print_error("%.*s", (int)n, text);
  }
}

static void results_and_counts(void **state) {
  work w;
  open_work(&w, *state);
  verify_all(&w);
  for (int k = 0; k < w.n; k++) {
    compare_counts(&w, &w.list[k]);
  }
  print_message("%d of %zu candidates, %d counts compared%s\n", w.n, w.f.space.n_candidates,
                w.n_compared,
                may_merge(&w.f.spec, true) ? ", the compiler may merge accesses" : "");
  if (w.failures.len > 0) {
    print_lines(sct_str_c(&w.failures));
  }
  assert_int_equal(w.failures.len, 0);
  assert_true(w.n_compared > w.n_stated); /* some allow the ragged size too */
  close_work(&w);
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

/* Specs of records differ in their sizes: under sanitizers two of the sizes stand for all. */
static bool is_left_out(const char *name) {
  return !IS_FAST && strncmp(name, "record", 6) == 0 && strncmp(name, "record28", 8) != 0 &&
         strncmp(name, "record36", 8) != 0;
}

/* A test for every file of tuning/kernels, so that none is forgotten, or only that one. */
static int list_tests(struct CMUnitTest *tests, sct_arena *arena, const char *only) {
  const char *root = SCT_ROOT_DIR "/tuning/kernels";
  DIR *dir = opendir(root);
  int n = 0;
  for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
    const size_t len = strlen(e->d_name);
    const bool is_lua = len > 4 && strcmp(e->d_name + len - 4, ".lua") == 0;
    const bool wanted = only ? strncmp(e->d_name, only, len - 4) == 0 : !is_left_out(e->d_name);
    if (is_lua && n < MAX_SPECS && wanted) {
      char *const name = sct_arena_strndup(arena, e->d_name, len - 4);
      tests[n++] =
          (struct CMUnitTest){.name = name, .test_func = results_and_counts, .initial_state = name};
    }
  }
  if (dir) {
    closedir(dir);
  }
  qsort(tests, (size_t)n, sizeof *tests, by_name);
  return n;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_WORKER_ARG) == 0) {
    return sct_measure_worker_main(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  struct CMUnitTest tests[MAX_SPECS];
  sct_arena arena = {0};
  const bool one = argc > 1 && strcmp(argv[1], "all") != 0;
  const int n = list_tests(tests, &arena, one ? argv[1] : NULL);
  stride = argc > 2 && atoll(argv[2]) > 0 ? atoll(argv[2]) : STRIDE;
  const int failed =
      n > 0 ? _cmocka_run_group_tests("specs", tests, (size_t)n, picked_setup, picked_teardown) : 1;
  sct_arena_free(&arena);
  return failed;
}
