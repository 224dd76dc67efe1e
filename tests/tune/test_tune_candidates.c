/* Candidates are rendered in other processes: the same items as rendered here, whole, however many
 * processes there are. A process that is lost is an error. */
#include "base/base_sys.h"
#include "tune/tune_internal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

static sct_error err;
static sct_device_desc h200;

/* The linker puts this in the place of what renders a candidate, in the program of all tests here:
 * it counts for all processes of this one. */
static _Atomic size_t *n_renderings;
sct_status __real_sct_script_render(sct_rendered *out, sct_script *script, const sct_space *space,
                                    const sct_candidate *cand, sct_error *failure);
sct_status __wrap_sct_script_render(sct_rendered *out, sct_script *script, const sct_space *space,
                                    const sct_candidate *cand, sct_error *failure);
sct_status __wrap_sct_script_render(sct_rendered *out, sct_script *script, const sct_space *space,
                                    const sct_candidate *cand, sct_error *failure) {
  if (n_renderings) {
    ++*n_renderings;
  }
  return __real_sct_script_render(out, script, space, cand, failure);
}

static int setup(void **state) {
  (void)state;
  n_renderings = sct_map_shared(sizeof *n_renderings);
  return n_renderings && sct_script_load_device(&h200, "h200", &err) == SCT_OK ? 0 : -1;
}

static const char *kernel(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/tuning/kernels/%s.lua", SCT_ROOT_DIR, name);
  return path;
}

static sct_status candidates_until(sct_tune_candidates *out, const char *name, int64_t until_ns,
                                   const sct_tune_events *events) {
  const sct_tune_candidates_opts opts = {.until_ns = until_ns, .events = events};
  return sct_tune_candidates_make(out, kernel(name), &h200, &opts, &err);
}

static void make(sct_tune_candidates *cands, const char *name) {
  if (candidates_until(cands, name, 0, NULL) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

/* Loads the spec and its space, and renders nothing. */
static sct_script *load(sct_tune_candidates *cands, const char *name) {
  sct_script *script = NULL;
  *cands = (sct_tune_candidates){.device = h200};
  if (sct_script_load_spec(&cands->spec, kernel(name), &err) != SCT_OK ||
      sct_script_new(&script, &cands->spec, &cands->device, NULL, &err) != SCT_OK ||
      sct_script_space(&cands->space, script, &err) != SCT_OK ||
      sct_space_enumerate(&cands->space, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return script;
}

static void same_expr(const sct_tune_candidates *a, sct_expr x, const sct_tune_candidates *b,
                      sct_expr y) {
  sct_str one = {0}, two = {0};
  sct_expr_print(&one, a->spec.pool, x);
  sct_expr_print(&two, b->spec.pool, y);
  assert_string_equal(sct_str_c(&one), sct_str_c(&two));
  sct_str_free(&one);
  sct_str_free(&two);
}

static void same_text(const char *a, const char *b) {
  assert_true((a == NULL) == (b == NULL));
  if (a) {
    assert_string_equal(a, b);
  }
}

static void same_kernel(const sct_tune_candidates *a, const sct_kernel_code *x,
                        const sct_tune_candidates *b, const sct_kernel_code *y) {
  same_text(x->source, y->source);
  same_text(x->kernel, y->kernel);
  same_text(x->launch, y->launch);
  same_text(x->launcher_doc, y->launcher_doc);
  assert_true(sct_hash_equal(x->hash, y->hash));
  const int64_t one[] = {
      x->threads,   x->rounds,          x->windows, x->shared_bytes, x->static_shared_bytes,
      x->n_require, x->workspace_bytes, x->indexed};
  const int64_t two[] = {
      y->threads,   y->rounds,          y->windows, y->shared_bytes, y->static_shared_bytes,
      y->n_require, y->workspace_bytes, y->indexed};
  assert_memory_equal(one, two, sizeof one);
  same_expr(a, x->grid, b, y->grid);
  for (int k = 0; k < x->n_require; k++) {
    same_expr(a, x->require[k], b, y->require[k]);
  }
  for (int op = 0; op < a->spec.n_operands; op++) {
    assert_int_equal(x->align[op], y->align[op]);
    assert_int_equal(x->layout[op], y->layout[op]);
  }
}

/* b has what comes out when candidates are rendered here, one after the other. */
static void same_as_here(sct_tune_candidates *b, const char *name) {
  sct_tune_candidates a;
  sct_script *script = load(&a, name);
  assert_int_equal(a.space.n_candidates, b->space.n_candidates);
  int item = 0;
  for (size_t c = 0; c < a.space.n_candidates; c++) {
    sct_kernel_code code;
    const char *rejected;
    assert_int_equal(sct_codegen_make(&code, &rejected, &a.arena, script, &a.spec, &a.space,
                                      &a.space.candidates[c], &err),
                     SCT_OK);
    bool earlier = false;
    for (int k = 0; k < item && !rejected && !earlier; k++) {
      earlier = sct_hash_equal(b->items[k].code.hash, code.hash);
    }
    if (!rejected && !earlier) {
      assert_true(item < b->n_items);
      assert_int_equal(b->items[item].candidate, c);
      same_kernel(&a, &code, b, &b->items[item].code);
      same_text(code.lines, b->items[item].code.lines);
      item++;
    }
    sct_kernel_code_free(&code);
  }
  assert_int_equal(item, b->n_items);
  sct_script_free(script);
  sct_tune_candidates_free(&a);
}

static void same_candidates(const sct_tune_candidates *a, const sct_tune_candidates *b) {
  assert_int_equal(a->n_items, b->n_items);
  for (int k = 0; k < a->n_items; k++) {
    assert_string_equal(a->items[k].label, b->items[k].label);
    assert_int_equal(a->items[k].candidate, b->items[k].candidate);
    same_kernel(a, &a->items[k].code, b, &b->items[k].code);
  }
  assert_int_equal(a->space.n_prunes, b->space.n_prunes);
  for (size_t k = 0; k < a->space.n_prunes; k++) {
    assert_string_equal(a->space.prunes[k].reason, b->space.prunes[k].reason);
    assert_int_equal(a->space.prunes[k].count, b->space.prunes[k].count);
  }
}

/* Many kernels share a message, whose memory their texts are in. */
static void few_messages(const sct_tune_candidates *cands) {
  assert_true(cands->n_sent > 0);
  assert_true(cands->n_sent < (size_t)cands->n_items / 4);
  for (int k = 0; k < cands->n_items; k++) {
    const uint8_t *text = (const uint8_t *)cands->items[k].code.source;
    bool inside = false;
    for (size_t m = 0; m < cands->n_sent; m++) {
      const sct_wire *sent = &cands->sent[m];
      inside = inside || (text >= sent->data && text < sent->data + sent->len);
    }
    assert_true(inside);
  }
}

static void test_rendered_elsewhere_is_the_same(void **state) {
  (void)state;
  sct_tune_candidates cands;
  make(&cands, "transpose_f16");
  assert_true(cands.space.n_candidates >= 256);
  same_as_here(&cands, "transpose_f16");
  few_messages(&cands);
  sct_tune_candidates_free(&cands);
  make(&cands, "gather_rows16");
  same_as_here(&cands, "gather_rows16");
  sct_tune_candidates_free(&cands);
}

/* For each of its sizes alone. */
static size_t n_wanted(const sct_tune_candidates *cands) {
  size_t n = 0;
  for (size_t c = 0; c < cands->space.n_candidates; c++) {
    const bool *sizes = cands->space.strategies[cands->space.candidates[c].strategy].sizes;
    n += sizes == NULL;
    for (int z = 0; z < cands->spec.n_sizes && sizes; z++) {
      n += sizes[z];
    }
  }
  return n;
}

static void test_every_candidate_is_rendered_once(void **state) {
  (void)state;
  static const char *const names[] = {"gather_rows16", "transpose_f16"};
  for (int k = 0; k < SCT_COUNT(names); k++) {
    sct_tune_candidates cands;
    *n_renderings = 0;
    make(&cands, names[k]);
    assert_int_equal(*n_renderings, n_wanted(&cands));
    sct_tune_candidates_free(&cands);
  }
  sct_tune_candidates few;
  const sct_tune_labels only = {.label = (const char *[]){"direct threads=256"}, .n = 1};
  *n_renderings = 0;
  assert_int_equal(sct_tune_candidates_make(&few, kernel(names[0]), &h200,
                                            &(sct_tune_candidates_opts){.only = &only}, &err),
                   SCT_OK);
  assert_true(*n_renderings > 0 && *n_renderings <= 2); /* it and the naive one */
  sct_tune_candidates_free(&few);
}

static void test_many_processes_render_the_same(void **state) {
  (void)state;
  sct_tune_candidates one, many;
  assert_int_equal(setenv("SECTILE_CORES", "1", 1), 0);
  make(&one, "broadcast");
  assert_int_equal(unsetenv("SECTILE_CORES"), 0);
  make(&many, "broadcast");
  same_candidates(&one, &many);
  sct_tune_candidates_free(&one);
  sct_tune_candidates_free(&many);
}

/* ---- an order, where there is no time for all ---- */

static void test_the_order_is_spread_over_the_space(void **state) {
  (void)state;
  sct_tune_candidates cands;
  tune_order order;
  make(&cands, "transpose_f16");
  const size_t n = cands.space.n_candidates;
  sct_tune_order_init(&order, &cands, 1);
  int *n_all = sct_alloc((size_t)cands.space.n_strategies * sizeof *n_all);
  int *n_least = sct_alloc((size_t)cands.space.n_strategies * sizeof *n_least);
  int *n_half = sct_alloc((size_t)cands.space.n_strategies * sizeof *n_half);
  bool *taken = sct_alloc(n * sizeof *taken);
  assert_true(n_all && n_least && n_half && taken);
  assert_true(sct_tune_is_naive(&cands, order.candidate[0]));
  assert_in_range(order.n_least, 2, n / 4);
  for (size_t k = 0; k < n; k++) {
    const size_t c = order.candidate[k];
    const int strategy = cands.space.candidates[c].strategy;
    assert_false(taken[c]);
    taken[c] = true;
    n_all[strategy]++;
    n_least[strategy] += k < order.n_least;
    n_half[strategy] += k < n / 2;
  }
  for (int k = 0; k < cands.space.n_strategies; k++) {
    const int half = n_all[k] / 2, few = n_all[k] < 3 ? n_all[k] : 3;
    assert_true(n_least[k] >= few); /* of every strategy, however small it is */
    assert_in_range(n_half[k], half > 6 ? half - 6 : 0, half + 6);
  }
  sct_free(n_all);
  sct_free(n_least);
  sct_free(n_half);
  sct_free(taken);
  sct_tune_order_free(&order);
  sct_tune_candidates_free(&cands);
}

static void count_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                           const char *item) {
  int64_t *n = ctx;
  (void)phase;
  (void)total;
  (void)item;
  assert_int_equal(done, ++*n);
}

/* What is generated when the time is over from the start, whatever a clock says. */
static void test_no_time_generates_the_least(void **state) {
  (void)state;
  sct_tune_candidates one, some;
  tune_order order;
  int64_t n_generated = 0;
  const sct_tune_events events = {.ctx = &n_generated, .progress = count_progress};
  make(&one, "transpose_f16");
  sct_tune_order_init(&order, &one, 1);
  assert_int_equal(candidates_until(&some, "transpose_f16", 1, &events), SCT_OK);
  assert_int_equal(n_generated, order.n_least);
  assert_int_equal(some.n_ungenerated, one.space.n_candidates - order.n_least);
  assert_int_equal(some.items[0].candidate, one.items[0].candidate);
  int n_same = 0, at = 0;
  for (int k = 0; k < some.n_items; k++) { /* in the order of the space */
    assert_true(k == 0 || some.items[k].candidate > some.items[k - 1].candidate);
    while (at < one.n_items && one.items[at].candidate < some.items[k].candidate) {
      at++;
    }
    if (at < one.n_items && one.items[at].candidate == some.items[k].candidate) {
      same_kernel(&one, &one.items[at].code, &some, &some.items[k].code);
      n_same++;
    }
  }
  assert_true(n_same > some.n_items / 2); /* others have the source of one that was left out */
  sct_tune_order_free(&order);
  sct_tune_candidates_free(&one);
  sct_tune_candidates_free(&some);
}

static void test_with_time_all_are_rendered(void **state) {
  (void)state;
  sct_tune_candidates one, all;
  make(&one, "transpose_f16");
  assert_int_equal(candidates_until(&all, "transpose_f16", INT64_MAX, NULL), SCT_OK);
  assert_int_equal(all.n_ungenerated, 0);
  same_candidates(&one, &all);
  sct_tune_candidates_free(&one);
  sct_tune_candidates_free(&all);
}

/* The children that this process has at the moment. */
static int children(pid_t *pids, int most) {
  char path[64];
  sct_str text = {0};
  int n = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  assert_int_equal(sct_file_read(&text, path, &err), SCT_OK);
  char *at = text.data;
  for (char *end = at; at && n < most; at = end) {
    const long pid = strtol(at, &end, 10);
    if (end == at) {
      break;
    }
    pids[n++] = (pid_t)pid;
  }
  sct_str_free(&text);
  return n;
}

/* A session that is killed while candidates are rendered: on the first progress that is heard. */
typedef struct killer {
  bool done;
} killer;

static void kill_one(void *ctx, const char *phase, int64_t done, int64_t total, const char *item) {
  killer *k = ctx;
  pid_t pids[64];
  (void)phase;
  (void)done;
  (void)total;
  (void)item;
  if (!k->done && children(pids, SCT_COUNT(pids)) > 0) {
    k->done = true;
    (void)kill(pids[0], SIGKILL);
  }
}

static void test_a_lost_process_is_an_error(void **state) {
  (void)state;
  sct_tune_candidates cands;
  killer k = {false};
  pid_t pids[64];
  const sct_tune_events events = {.ctx = &k, .progress = kill_one};
  assert_int_equal(candidates_until(&cands, "transpose_f16", 0, &events), SCT_ESPEC);
  assert_true(k.done);
  assert_non_null(strstr(err.text, "error: the child that ran the scripts ended early (Killed)"));
  assert_int_equal(children(pids, SCT_COUNT(pids)), 0);
}

/* A spec like `name` with these sizes. */
static void make_sized(sct_tune_candidates *cands, const char *name, const char *sizes) {
  char path[] = "/tmp/sectile-candidates-XXXXXX.lua";
  sct_str text = {0};
  const int fd = mkstemps(path, 4);
  assert_true(fd >= 0 && sct_file_read(&text, kernel(name), &err) == SCT_OK);
  char *from = strstr(text.data, "sizes ");
  assert_non_null(from);
  *from = '\0';
  dprintf(fd, "%ssizes = { %s } }\n", text.data, sizes);
  close(fd);
  const sct_tune_candidates_opts opts = {0};
  if (sct_tune_candidates_make(cands, path, &h200, &opts, &err) != SCT_OK) {
    fail_msg("%s: %s", sizes, err.text);
  }
  unlink(path);
  sct_str_free(&text);
}

/* Strategy and axes of an item, whatever labels leave out. */
static void describe(sct_str *out, const sct_tune_candidates *cands, int item) {
  const sct_candidate *cand = &cands->space.candidates[cands->items[item].candidate];
  sct_str_clear(out);
  sct_str_printf(out, "%s ", cands->space.strategies[cand->strategy].name);
  sct_codegen_axes(out, &cands->space, cand);
}

/* By its source, or by what it is: places are ordered by all sizes that share candidates. */
static bool has_item(const sct_tune_candidates *cands, int size, sct_hash hash,
                     const char *described) {
  sct_str text = {0};
  bool found = false;
  for (int k = 0; k < cands->n_items && !found; k++) {
    describe(&text, cands, k);
    found = sct_tune_is_for_size(cands, &cands->items[k], size) &&
            (sct_hash_equal(cands->items[k].code.hash, hash) ||
             strcmp(sct_str_c(&text), described) == 0);
  }
  sct_str_free(&text);
  return found;
}

/* What may win at a size does not depend on which other sizes are tuned with it. */
static void test_sizes_have_candidates_of_their_own(void **state) {
  static const struct {
    const char *name, *size[2];
  } cases[] = {
      {"transpose_f32", {"{ row = 4096, col = 4096 }", "{ row = 1000000, col = 7 }"}},
      {"permute6_f32",
       {"{ i = 6, j = 25, k = 2, l = 300, m = 8, n = 187 }",
        "{ i = 40, j = 5, k = 90, l = 4, m = 24, n = 78 }"}},
  };
  (void)state;
  for (int c = 0; c < SCT_COUNT(cases); c++) {
    char all[256];
    sct_tune_candidates both, one;
    snprintf(all, sizeof all, "%s, %s", cases[c].size[0], cases[c].size[1]);
    make_sized(&both, cases[c].name, all);
    for (int z = 0; z < 2; z++) {
      sct_str text = {0};
      make_sized(&one, cases[c].name, cases[c].size[z]);
      for (int k = 0; k < one.n_items; k++) {
        describe(&text, &one, k);
        if (sct_tune_is_for_size(&one, &one.items[k], 0) &&
            !has_item(&both, z, one.items[k].code.hash, sct_str_c(&text))) {
          fail_msg("%s: %s: no '%s'", cases[c].name, cases[c].size[z], sct_str_c(&text));
        }
      }
      sct_str_free(&text);
      sct_tune_candidates_free(&one);
    }
    sct_tune_candidates_free(&both);
  }
}

static int64_t n_with(const sct_tune_candidates *cands, const char *text) {
  int64_t n = 0;
  for (int k = 0; k < cands->n_items; k++) {
    n += strstr(cands->items[k].code.source, text) != NULL;
  }
  return n;
}

static int64_t pruned_by(const sct_tune_candidates *cands, const char *reason) {
  int64_t n = 0;
  for (size_t p = 0; p < cands->space.n_prunes; p++) {
    n += strstr(cands->space.prunes[p].reason, reason) != NULL ? cands->space.prunes[p].count : 0;
  }
  return n;
}

/* What an older NVRTC cannot compile is pruned with that reason; the naive variant stays. */
static void test_an_old_compiler_gets_what_it_knows(void **state) {
  static const char text[] = "red.global.add.v";
  sct_tune_candidates cands;
  (void)state;
  make(&cands, "scatter_add_rows");
  const int64_t n_vectors = n_with(&cands, text);
  const int n_all = cands.n_items;
  sct_tune_candidates_free(&cands);
  assert_in_range(n_vectors, 1, n_all - 1);
  static const char *const versions[] = {"11.8", "12.0", "12.1", "13.0"};
  for (int k = 0; k < SCT_COUNT(versions); k++) {
    const sct_tune_candidates_opts opts = {.nvrtc = versions[k]};
    assert_int_equal(
        sct_tune_candidates_make(&cands, kernel("scatter_add_rows"), &h200, &opts, &err), SCT_OK);
    assert_int_equal(n_with(&cands, text), k < 2 ? 0 : n_vectors);
    const int64_t n_pruned = pruned_by(&cands, "NVRTC 12.1 or later has"); /* equal sources too */
    assert_true(k < 2 ? n_pruned >= n_vectors : n_pruned == 0);
    assert_int_equal(cands.n_items, k < 2 ? n_all - (int)n_vectors : n_all);
    sct_tune_candidates_free(&cands);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_old_compiler_gets_what_it_knows),
      cmocka_unit_test(test_rendered_elsewhere_is_the_same),
      cmocka_unit_test(test_every_candidate_is_rendered_once),
      cmocka_unit_test(test_many_processes_render_the_same),
      cmocka_unit_test(test_the_order_is_spread_over_the_space),
      cmocka_unit_test(test_no_time_generates_the_least),
      cmocka_unit_test(test_with_time_all_are_rendered),
      cmocka_unit_test(test_sizes_have_candidates_of_their_own),
      cmocka_unit_test(test_a_lost_process_is_an_error),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
