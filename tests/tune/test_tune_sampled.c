/* Every worked spec at its real sizes, a spread of candidates of every strategy: what the model
 * counts from the recorded accesses of some blocks is what the same blocks do as PTX.
 *
 *   test_tune_sampled [SPEC|all [STRIDE]]   prints what differs and what both ways take
 */
#include "measure/measure.h"
#include "model/model.h"
#include "tune_picked.h"

#include <dirent.h>
#include <time.h>

#define MAX_SPECS     128
#define SEED          20251121
#define SAMPLED_LOOPS 1e-3
#define RAGGED        0.15
#define STRIDE        ((int64_t)2 * 113 * (SCT_SANITIZED ? 9 : 1))

static int64_t stride = STRIDE;

typedef struct work {
  fixture f;
  sct_sampler *sampler;
  sct_ptx_module *module;
  const char *ptx; /* of the module */
  int n_compared, n_different;
  double model_s, sampled_s, slowest_s;
  const char *slowest;
} work;

/* Of this process: the machine may have other things to do. */
static int64_t cpu_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void print_different(const char *what, const sct_count *m, const sct_count *p) {
  if (memcmp(m, p, sizeof *m) != 0) {
    print_error(
        "    %s: requests %lld | %lld, sectors %lld | %lld (ideal %lld | %lld), tags %lld | "
        "%lld, distinct bytes %lld | %lld\n",
        what, (long long)m->requests, (long long)p->requests, (long long)m->sectors,
        (long long)p->sectors, (long long)m->sectors_ideal, (long long)p->sectors_ideal,
        (long long)m->tags, (long long)p->tags, (long long)m->distinct_bytes,
        (long long)p->distinct_bytes);
  }
}

/* How the counts of one candidate may differ. */
typedef struct slack {
  double part;        /* of a count: loops are sampled here, and unrolled there */
  bool merged;        /* the compiler merged accesses, so PTX has fewer */
  bool shared_output; /* what the last block of several does is left out */
} slack;

static bool agree(int64_t model, int64_t ptx, const slack *s) {
  const double least = s->merged ? 0.0 : (1.0 - s->part) * (double)model - 1.0;
  return (double)ptx >= least && (double)ptx <= (1.0 + s->part) * (double)model + 1.0;
}

static bool counts_agree(const sct_count *m, const sct_count *p, const slack *s) {
  return agree(m->requests, p->requests, s) && agree(m->sectors, p->sectors, s) &&
         agree(m->sectors_ideal, p->sectors_ideal, s) && agree(m->tags, p->tags, s) &&
         agree(m->distinct_bytes, p->distinct_bytes, s);
}

/* The strategy `permute` does not record its own. */
static bool shuffles_agree(const char *label, const sct_counters *m, const sct_counters *p,
                           const slack *s) {
  return agree(m->shuffles, p->shuffles, s) ||
         (m->shuffles == 0 && strncmp(label, "permute ", 8) == 0);
}

static void compare(work *w, const char *label, const sct_size *size, const sct_counters *m,
                    const sct_counters *p, const slack *s) {
  bool same =
      counts_agree(&m->load, &p->load, s) && counts_agree(&m->bulk_load, &p->bulk_load, s) &&
      agree(m->wavefronts_ld, p->wavefronts_ld, s) &&
      agree(m->wavefronts_st, p->wavefronts_st, s) &&
      agree(m->wavefronts_ld_ideal, p->wavefronts_ld_ideal, s) &&
      agree(m->wavefronts_st_ideal, p->wavefronts_st_ideal, s) && shuffles_agree(label, m, p, s);
  for (int op = 0; op < m->n_operands; op++) {
    const bool output = w->f.spec.operands[op].is_output;
    same =
        same && ((output && s->shared_output) || counts_agree(&m->operand[op], &p->operand[op], s));
  }
  same = same && (s->shared_output || counts_agree(&m->store, &p->store, s));
  w->n_compared++;
  if (same) {
    return;
  }
  w->n_different++;
  print_error("  '%s' at %s, model | PTX (%lld of %lld blocks):\n", label, size->label,
              (long long)p->blocks_counted, (long long)p->blocks);
  print_different("loads", &m->load, &p->load);
  print_different("stores", &m->store, &p->store);
  print_different("bulk loads", &m->bulk_load, &p->bulk_load);
  for (int op = 0; op < m->n_operands; op++) {
    print_different(w->f.spec.operands[op].name, &m->operand[op], &p->operand[op]);
  }
  print_error("    wavefronts %lld | %lld and %lld | %lld (ideal %lld | %lld and %lld | %lld), "
              "shuffles %lld | %lld\n",
              (long long)m->wavefronts_ld, (long long)p->wavefronts_ld, (long long)m->wavefronts_st,
              (long long)p->wavefronts_st, (long long)m->wavefronts_ld_ideal,
              (long long)p->wavefronts_ld_ideal, (long long)m->wavefronts_st_ideal,
              (long long)p->wavefronts_st_ideal, (long long)m->shuffles, (long long)p->shuffles);
}

/* Records of several fields that a wider word could hold: PTX has one access where two were
 * recorded. */
static bool may_merge(const sct_spec *spec) {
  bool several = false;
  for (int op = 0; op < spec->n_operands; op++) {
    several = several || spec->operands[op].record.n_fields > 1;
  }
  return several;
}

/* Lanes of a warp leave loops at different times where extents are no whole warps; a loop that the
 * compiler unrolled then makes the same accesses in other requests. */
static slack slack_of(const work *w, const picked *p, const sct_size *size) {
  slack s = {.part = SAMPLED_LOOPS,
             .merged = may_merge(&w->f.spec),
             .shared_output = p->code.workspace_bytes > 0};
  for (int k = 0; k < w->f.spec.n_extents; k++) {
    s.part = size->extent[k] % 32 != 0 || s.shared_output ? RAGGED : s.part;
  }
  return s;
}

static void compare_at(work *w, const picked *p, const sct_size *size) {
  sct_counters model, sampled;
  if (w->ptx != p->compiled.ptx) {
    sct_ptx_module_free(w->module);
    MUST(sct_ptx_parse(&w->module, p->compiled.ptx, "PTX", err));
    w->ptx = p->compiled.ptx;
  }
  sct_error why = {0};
  const int64_t start = cpu_ns();
  const sct_status status = sct_sampler_count(w->sampler, &sampled, &p->code, w->module,
                                              p->compiled.entry, size, 0, &why);
  const int64_t counted = cpu_ns();
  const int64_t blocks = status == SCT_OK ? sampled.blocks_counted : 0;
  MUST(sct_model_count(&model, &w->f.spec, &p->code, size, blocks, err));
  const double took = 1e-9 * (double)(counted - start);
  w->model_s += 1e-9 * (double)(cpu_ns() - counted);
  w->sampled_s += took;
  if (took > w->slowest_s) {
    w->slowest_s = took;
    w->slowest = p->label;
  }
  if (status == SCT_OK) {
    slack s = slack_of(w, p, size);
    s.part = blocks == 0 ? RAGGED : s.part; /* of a shorter size */
    compare(w, p->label, size, &model, &sampled, &s);
    sct_counters_free(&sampled);
  } else {
    print_error("  '%s' at %s: %s\n", p->label, size->label, why.text);
    w->n_different++;
  }
  sct_counters_free(&model);
}

static int pick(work *w, picked *list) {
  int n = 0;
  for (int strategy = 0; strategy < w->f.space.n_strategies; strategy++) {
    int64_t seen = 0;
    for (size_t c = 0; c < w->f.space.n_candidates; c++) {
      if (w->f.space.candidates[c].strategy == strategy) {
        if (seen % stride == 0) {
          const bool made = picked_make(&list[n], &w->f, c) && list[n].code.counted;
          if (!made) {
            picked_free(&list[n], 1);
          }
          n += made;
          seen -= !made; /* turned down: the next one instead */
        }
        seen++;
      }
    }
  }
  return n;
}

static void counts_are_the_same(void **state) {
  work w = {0};
  fixture_open(&w.f, *state);
  picked *list = sct_alloc(sizeof *list * w.f.space.n_candidates);
  assert_non_null(list);
  const int n = pick(&w, list);
  picked_compile(list, n);
  sct_sampler_new(&w.sampler, &w.f.spec, &w.f.device, SEED, 0);
  for (int k = 0; k < n; k++) {
    for (int z = 0; z < w.f.spec.n_sizes; z++) {
      if (sct_codegen_fits(&w.f.spec, &list[k].code, &w.f.spec.sizes[z])) {
        compare_at(&w, &list[k], &w.f.spec.sizes[z]);
      }
    }
  }
  print_message(
      "%d of %zu candidates, %d counts compared, %d differ; model %.2f ms each, PTX %.2f, "
      "at most %.2f ('%s')\n",
      n, w.f.space.n_candidates, w.n_compared, w.n_different, 1e3 * w.model_s / w.n_compared,
      1e3 * w.sampled_s / w.n_compared, 1e3 * w.slowest_s, w.slowest);
  sct_sampler_free(w.sampler);
  sct_ptx_module_free(w.module);
  picked_free(list, n);
  sct_free(list);
  fixture_close(&w.f);
  assert_int_equal(w.n_different, 0);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

/* A test for every file of tuning/kernels, or only one. */
static int list_tests(struct CMUnitTest *tests, sct_arena *arena, const char *only) {
  DIR *dir = opendir(SCT_ROOT_DIR "/tuning/kernels");
  int n = 0;
  for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
    const size_t len = strlen(e->d_name);
    const bool is_lua = len > 4 && strcmp(e->d_name + len - 4, ".lua") == 0;
    if (is_lua && n < MAX_SPECS && (!only || strncmp(e->d_name, only, len - 4) == 0)) {
      char *const name = sct_arena_strndup(arena, e->d_name, len - 4);
      tests[n++] = (struct CMUnitTest){
          .name = name, .test_func = counts_are_the_same, .initial_state = name};
    }
  }
  if (dir) {
    closedir(dir);
  }
  qsort(tests, (size_t)n, sizeof *tests, by_name);
  return n;
}

int main(int argc, char **argv) {
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
