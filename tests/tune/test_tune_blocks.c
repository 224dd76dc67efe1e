/* Every worked spec at its real sizes, a spread of candidates of every strategy: what is counted
 * from a few blocks is what is counted from many, and what is stored of an output is its bytes. At
 * smaller extents all blocks run too: what few of them say is as far from that as they say.
 *
 *   test_tune_blocks [KERNEL|all [STEP]]   of candidates, as test_tune_cases has it; prints what
 *                                           differs and how long it takes
 */
#include "measure/measure.h"
#include "model/model.h"
#include "part.h"
#include "tune_picked.h"

#include <math.h>
#include <time.h>

#define MANY_BLOCKS 40
#define SLACK       0.15 /* tiles differ at edges, rows in where they start, blocks in indices */
/* For lines: a wide access touches one or two, and which blocks of a short tile were counted
 * decides how many. */
#define TAGS_SLACK 0.35
#define STEP       2000
#define MODERATE   (1 << 14) /* elements of a launch of which all blocks run */

static int64_t step = STEP;
static int n_sampled, n_within; /* of all specs */

typedef struct work {
  fixture f;
  sct_block_counter *block_counter;
  sct_ptx_module *module;
  const char *ptx; /* of the module */
  int n_compared, n_different;
  double few_s, many_s, slowest_s;
  const char *slowest;
} work;

/* Processor time of this process: the machine may have other things to do. */
static int64_t cpu_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool agree_within(double slack, int64_t a, int64_t b) {
  return (double)b >= (1.0 - slack) * (double)a - 1.0 &&
         (double)b <= (1.0 + slack) * (double)a + 1.0;
}

static bool agree(int64_t a, int64_t b) {
  return agree_within(SLACK, a, b);
}

static bool counts_agree(const char *what, const sct_count *a, const sct_count *b) {
  const bool same = agree(a->requests, b->requests) && agree(a->sectors, b->sectors) &&
                    agree(a->sectors_ideal, b->sectors_ideal) &&
                    agree_within(TAGS_SLACK, a->tags, b->tags) &&
                    agree(a->distinct_bytes, b->distinct_bytes);
  if (!same) {
    print_error(
        "    %s: requests %lld | %lld, sectors %lld | %lld (ideal %lld | %lld), tags %lld | "
        "%lld, distinct bytes %lld | %lld\n",
        what, (long long)a->requests, (long long)b->requests, (long long)a->sectors,
        (long long)b->sectors, (long long)a->sectors_ideal, (long long)b->sectors_ideal,
        (long long)a->tags, (long long)b->tags, (long long)a->distinct_bytes,
        (long long)b->distinct_bytes);
  }
  return same;
}

/* Stores may be few next to loads: then they are part of a sum that agrees. */
static bool exchanges_agree(const sct_counters *a, const sct_counters *b) {
  const bool same =
      agree(a->wavefronts_ld, b->wavefronts_ld) &&
      agree(a->wavefronts_ld + a->wavefronts_st, b->wavefronts_ld + b->wavefronts_st) &&
      agree(a->wavefronts_ld_ideal, b->wavefronts_ld_ideal) &&
      agree(a->wavefronts_ld_ideal + a->wavefronts_st_ideal,
            b->wavefronts_ld_ideal + b->wavefronts_st_ideal) &&
      agree(a->shuffles, b->shuffles);
  if (!same) {
    print_error("    wavefronts %lld | %lld and %lld | %lld, shuffles %lld | %lld\n",
                (long long)a->wavefronts_ld, (long long)b->wavefronts_ld,
                (long long)a->wavefronts_st, (long long)b->wavefronts_st, (long long)a->shuffles,
                (long long)b->shuffles);
  }
  return same;
}

/* Every element of an output is stored once, by whatever kernel, and what lies between fields may
 * be too; what is updated in place is loaded before, by steps in each of them or once. */
static bool is_stored(const sct_spec *spec, int op, const sct_size *size, int64_t found) {
  const sct_operand *const operand = &spec->operands[op];
  const sct_record *const record = &operand->record;
  const int64_t bytes = sct_spec_touched_bytes(spec, op, size);
  const int64_t gaps = bytes / record->data_bytes * (record->bytes - record->data_bytes);
  const int passes = spec->n_steps > 0 ? spec->n_steps : 1;
  bool good = false;
  for (int loads = operand->is_inout ? 1 : 0; loads <= (operand->is_inout ? passes : 0); loads++) {
    good = good || agree((1 + loads) * bytes, found) || agree((1 + loads) * (bytes + gaps), found);
  }
  if (!good) {
    print_error("    %s: %lld bytes stored, and loaded if it is updated, of %lld\n", operand->name,
                (long long)found, (long long)bytes);
  }
  return good;
}

/* Blocks that share an output are few of many here, outputs that are kept in part are left out, and
 * atomic operations are no stores. */
static bool outputs_are_stored(const work *w, const picked *p, const sct_size *size,
                               const sct_counters *c) {
  const sct_spec *const spec = &w->f.spec;
  bool same = true;
  for (int op = spec->n_inputs; op < spec->n_operands && p->code.workspace_bytes == 0; op++) {
    if (!spec->operands[op].keeps && spec->operands[op].accumulate == SCT_REDUCE_NONE) {
      same = is_stored(spec, op, size, c->operand[op].distinct_bytes) && same;
    }
  }
  return same;
}

static void compare(work *w, const picked *p, const sct_size *size, const sct_counters *few,
                    const sct_counters *many) {
  bool same = counts_agree("loads", &few->load, &many->load);
  same = counts_agree("stores", &few->store, &many->store) && same;
  same = counts_agree("bulk loads", &few->bulk_load, &many->bulk_load) && same;
  same = exchanges_agree(few, many) && same;
  same = outputs_are_stored(w, p, size, many) && same;
  for (int op = 0; op < few->n_operands; op++) {
    same = counts_agree(w->f.spec.operands[op].name, &few->operand[op], &many->operand[op]) && same;
  }
  w->n_compared++;
  w->n_different += !same;
  if (!same) {
    print_error("  '%s' at %s, %lld | %lld of %lld blocks\n", p->label, size->label,
                (long long)few->blocks_counted, (long long)many->blocks_counted,
                (long long)few->blocks);
  }
}

/* Processor time in seconds. */
static double count(const work *w, const picked *p, const sct_size *size, int64_t blocks,
                    sct_counters *out) {
  const int64_t start = cpu_ns();
  MUST(sct_block_counter_count(w->block_counter, out, &p->code, w->module, p->compiled.entry, size,
                               blocks, err));
  return 1e-9 * (double)(cpu_ns() - start);
}

/* Where a few rows have most elements, what blocks do is told by none but those that have them. */
static bool is_skewed(const sct_spec *spec, const sct_size *size) {
  return sct_spec_is_ragged(spec) && size->fill[spec->ragged.offsets] == SCT_FILL_POWER;
}

static void compare_at(work *w, const picked *p, const sct_size *size) {
  sct_counters few, many;
  if (w->ptx != p->compiled.ptx) {
    sct_ptx_module_free(w->module);
    MUST(sct_ptx_parse(&w->module, p->compiled.ptx, "PTX", err));
    w->ptx = p->compiled.ptx;
  }
  const double took = count(w, p, size, 0, &few);
  w->few_s += took;
  if (took > w->slowest_s) {
    w->slowest_s = took;
    w->slowest = p->label;
  }
  w->many_s += count(w, p, size, MANY_BLOCKS, &many);
  compare(w, p, size, &few, &many);
  sct_counters_free(&few);
  sct_counters_free(&many);
}

/* Halves extents at random, and takes off some elements. */
static void make_moderate(sct_size *size, const sct_spec *spec, sct_rng *rng) {
  int64_t *const extent = (int64_t *)size->extent;
  while (sct_spec_elements(spec, size) > MODERATE) {
    int longest = 0;
    for (int d = 0; d < spec->n_dims; d++) {
      longest = extent[d] > extent[longest] ? d : longest;
    }
    const int any = (int)sct_rng_below(rng, spec->n_dims);
    const int d = extent[any] >= 4 ? any : longest;
    extent[d] = (extent[d] + 1) / 2;
  }
  for (int d = 0; d < spec->n_dims; d++) {
    extent[d] -= extent[d] > 16 ? sct_rng_below(rng, 4) : 0;
  }
}

static void check_error(work *w, const picked *p, const sct_size *size) {
  sct_counters few, all;
  (void)count(w, p, size, 0, &few);
  if (few.blocks_counted == few.blocks) {
    sct_counters_free(&few);
    return;
  }
  (void)count(w, p, size, SCT_ALL_BLOCKS, &all);
  const double sectors = (double)(all.load.sectors + all.store.sectors);
  const double off = fabs((double)(few.load.sectors + few.store.sectors) - sectors);
  assert_true(all.error == 0);
  n_sampled++;
  n_within += off <= few.error * sectors + 0.5;
  if (few.error == 0 && off > 0) {
    fail_msg("'%s' at %s: exact, but %f sectors off", p->label, size->label, off);
  }
  if (off > few.error * sectors + 0.5) {
    print_error("  '%s' at %s: %.3f %% off, error %.3f %%, %lld of %lld blocks\n", p->label,
                size->label, 100.0 * off / sectors, 100.0 * few.error,
                (long long)few.blocks_counted, (long long)few.blocks);
  }
  sct_counters_free(&few);
  sct_counters_free(&all);
}

static void check_moderate(work *w, const picked *p, const sct_size *tuned, sct_rng *rng) {
  const sct_spec *const spec = &w->f.spec;
  int64_t extent[SCT_MAX_EXTENTS];
  sct_size size = *tuned;
  size.extent = extent;
  memcpy(extent, tuned->extent, sizeof *extent * (size_t)spec->n_extents);
  make_moderate(&size, spec, rng);
  if (sct_codegen_fits(spec, &p->code, &size)) {
    check_error(w, p, &size);
  }
}

static void errors_are_honest(void **state) {
  (void)state;
  print_message("%d of %d within their error\n", n_within, n_sampled);
  assert_true(n_within >= n_sampled * 95 / 100);
}

static int pick(work *w, picked *list) {
  int n = 0;
  for (int strategy = 0; strategy < w->f.space.n_strategies; strategy++) {
    n = picked_draw(list, n, &w->f, strategy, step == 1 ? 0 : picked_share(&w->f, strategy, step),
                    PICKED_SEED);
  }
  return n;
}

static void counts_are_the_same(void **state) {
  static int n_specs;
  if (!part_has(n_specs++)) {
    skip();
  }
  work w = {0};
  fixture_open(&w.f, *state);
  picked *list = sct_alloc(sizeof *list * (w.f.space.n_candidates + 1));
  assert_non_null(list);
  const int n = pick(&w, list);
  picked_compile(list, n);
  sct_block_counter_new(&w.block_counter, &w.f.spec, &w.f.device, PICKED_SEED, 0);
  for (int k = 0; k < n; k++) {
    for (int z = 0; z < w.f.spec.n_sizes; z++) {
      if (sct_codegen_fits(&w.f.spec, &list[k].code, &w.f.spec.sizes[z]) &&
          !is_skewed(&w.f.spec, &w.f.spec.sizes[z])) {
        compare_at(&w, &list[k], &w.f.spec.sizes[z]);
      }
    }
    sct_rng rng = sct_rng_new(PICKED_SEED + (uint64_t)k);
    if (w.module != NULL && k % 2 == 0) {
      check_moderate(&w, &list[k], &w.f.spec.sizes[k % w.f.spec.n_sizes], &rng);
    }
  }
  print_message(
      "%d of %zu candidates, %d counts compared, %d differ; few blocks %.2f ms each, many "
      "%.2f, at most %.2f ('%s')\n",
      n, w.f.space.n_candidates, w.n_compared, w.n_different, 1e3 * w.few_s / w.n_compared,
      1e3 * w.many_s / w.n_compared, 1e3 * w.slowest_s, w.slowest);
  sct_block_counter_free(w.block_counter);
  sct_ptx_module_free(w.module);
  picked_free(list, n);
  sct_free(list);
  fixture_close(&w.f);
  assert_int_equal(w.n_different, 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  struct CMUnitTest tests[SCT_COUNT(worked_kernels) + 1];
  const bool one = argc > 1 && strcmp(argv[1], "all") != 0;
  int n = worked_tests(tests, 0, counts_are_the_same, one ? argv[1] : NULL, NULL);
  if (n > 0) {
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(errors_are_honest);
  }
  step = argc > 2 && atoll(argv[2]) > 0 ? atoll(argv[2]) : STEP;
  return n > 0 ? _cmocka_run_group_tests("specs", tests, (size_t)n, picked_setup, picked_teardown)
               : 1;
}
