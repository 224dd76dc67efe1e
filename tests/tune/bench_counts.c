/* How often what is counted from some blocks, or from shorter launches, is as near as it says:
 * specs at extents at which the whole launch runs too.
 *
 *   bench_counts CANDIDATES SIZES MOST_STEPS SPEC...
 *     CANDIDATES of a strategy, SIZES of a spec; MOST_STEPS of a block before shorter launches
 * stand for it, 0: as when tuning
 *
 * A line for each count, marked where it is further off than it says, and one of all.
 */
#include "measure/measure.h"
#include "model/model.h"
#include "tune_picked.h"

#include <math.h>

#define MOST_ELEMENTS  19 /* of a launch, logarithms to base 2 */
#define LEAST_ELEMENTS 9
#define MOST_COUNTS    (1 << 20)

enum { SAMPLE, FIT, N_KINDS };
static const char *const kinds[] = {"samples", "fits"};

static struct tally {
  int n, n_within, n_exact, n_false;
  double *error, *off;
} tallies[N_KINDS];

static int n_candidates, n_sizes;
static int64_t most_steps;

static double sectors_of(const sct_counters *c) {
  return (double)(c->load.sectors + c->store.sectors);
}

/* An exact one is so for every operand. */
static double most_off(const sct_counters *c, const sct_counters *all) {
  double off = fabs(sectors_of(c) - sectors_of(all));
  for (int op = 0; op < c->n_operands && c->error == 0; op++) {
    off = fmax(off, fabs((double)(c->operand[op].sectors - all->operand[op].sectors)));
    off = fmax(off, fabs((double)(c->operand[op].requests - all->operand[op].requests)));
  }
  return off;
}

static void add(const char *spec, const picked *p, const sct_size *size, const sct_counters *c,
                const sct_counters *all) {
  const int kind = c->blocks_counted == 0 ? FIT : SAMPLE;
  struct tally *const t = &tallies[kind];
  const double sectors = sectors_of(all), off = most_off(c, all);
  const bool within = off <= c->error * sectors + 0.5;
  t->error = t->error ? t->error : sct_alloc(sizeof *t->error * MOST_COUNTS);
  t->off = t->off ? t->off : sct_alloc(sizeof *t->off * MOST_COUNTS);
  if (t->n < MOST_COUNTS) {
    t->error[t->n] = c->error;
    t->off[t->n] = sectors > 0 ? off / sectors : 0;
    t->n++;
  }
  t->n_within += within;
  t->n_exact += c->error == 0;
  t->n_false += c->error == 0 && !within;
  printf("%s%s %s, '%s' at", within ? "" : "WRONG ", kinds[kind], spec, p->label);
  for (int e = 0; e < SCT_MAX_EXTENTS && size->extent[e] > 0; e++) {
    printf(" %lld", (long long)size->extent[e]);
  }
  printf(": %.3f %% off, error %.3f %%, %lld of %lld blocks of %d modes, %.0f for %.0f sectors\n",
         100.0 * off / fmax(sectors, 1), 100.0 * c->error, (long long)c->blocks_counted,
         (long long)c->blocks, p->code.n_tiles, sectors_of(c), sectors);
  (void)fflush(stdout);
}

/* Halves extents until few elements are left, and takes off some; or any extents at all. */
static void draw(sct_size *size, const sct_spec *spec, sct_rng *rng) {
  int64_t *const extent = (int64_t *)size->extent;
  const int64_t most =
      (int64_t)1 << (LEAST_ELEMENTS + sct_rng_below(rng, MOST_ELEMENTS - LEAST_ELEMENTS + 1));
  const bool any = sct_rng_below(rng, 3) == 0;
  for (int d = 0; d < spec->n_dims && any; d++) {
    extent[d] = ((int64_t)1 << sct_rng_below(rng, MOST_ELEMENTS + 1)) + sct_rng_below(rng, 65);
  }
  while (sct_spec_elements(spec, size) > most) {
    int d = (int)sct_rng_below(rng, spec->n_dims);
    for (int k = 0; k < spec->n_dims && extent[d] < 4; k++) {
      d = (d + 1) % spec->n_dims;
    }
    extent[d] = (extent[d] + 1) / 2;
  }
  for (int d = 0; d < spec->n_dims && sct_rng_below(rng, 2) == 0; d++) {
    extent[d] -= extent[d] > 16 ? sct_rng_below(rng, 16) : 0;
  }
}

static void check(sct_block_counter *few, sct_block_counter *whole, const fixture *f,
                  const picked *p, sct_ptx_module *module, const sct_size *size) {
  sct_counters c = {0}, all = {0};
  sct_error err;
  const char *const entry = p->compiled.entry;
  if (sct_block_counter_count(few, &c, &p->code, module, entry, size, 0, &err) == SCT_OK) {
    if (c.blocks_counted < c.blocks &&
        sct_block_counter_count(whole, &all, &p->code, module, entry, size, SCT_ALL_BLOCKS, &err) ==
            SCT_OK) {
      add(f->spec.name, p, size, &c, &all);
      sct_counters_free(&all);
    }
    sct_counters_free(&c);
  }
}

static void check_spec(void **state) {
  fixture f;
  fixture_open(&f, *state);
  picked *const list = sct_alloc(sizeof *list * (f.space.n_candidates + 1));
  int n = 0;
  for (int strategy = 0; strategy < f.space.n_strategies; strategy++) {
    n = picked_draw(list, n, &f, strategy, n_candidates, PICKED_SEED);
  }
  picked_compile(list, n);
  sct_rng rng = sct_rng_new(PICKED_SEED);
  sct_block_counter *few, *whole;
  sct_block_counter_new(&few, &f.spec, &f.device, PICKED_SEED, most_steps);
  sct_block_counter_new(&whole, &f.spec, &f.device, PICKED_SEED, (int64_t)1 << 40);
  for (int k = 0; k < n; k++) {
    sct_ptx_module *module = NULL;
    MUST(sct_ptx_parse(&module, list[k].compiled.ptx, "PTX", err));
    for (int z = 0; z < n_sizes; z++) {
      const sct_size *const tuned = &f.spec.sizes[z % f.spec.n_sizes];
      int64_t extent[SCT_MAX_EXTENTS] = {0};
      sct_size size = *tuned;
      size.extent = extent;
      memcpy(extent, tuned->extent, sizeof *extent * (size_t)f.spec.n_extents);
      draw(&size, &f.spec, &rng);
      if (sct_codegen_fits(&f.spec, &list[k].code, &size)) {
        check(few, whole, &f, &list[k], module, &size);
      }
    }
    sct_ptx_module_free(module);
  }
  sct_block_counter_free(few);
  sct_block_counter_free(whole);
  picked_free(list, n);
  sct_free(list);
  fixture_close(&f);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_tally(int kind) {
  const struct tally *const t = &tallies[kind];
  if (t->n == 0) {
    return;
  }
  qsort(t->error, (size_t)t->n, sizeof *t->error, ascending);
  qsort(t->off, (size_t)t->n, sizeof *t->off, ascending);
  printf("%s: %d, %.2f %% within their error (median %.2f %%, 90th %.2f %%); off by %.3f %%, "
         "%.2f %%, at most %.2f %%; %d exact, %d of them wrongly\n",
         kinds[kind], t->n, 100.0 * t->n_within / t->n, 100.0 * t->error[t->n / 2],
         100.0 * t->error[t->n * 9 / 10], 100.0 * t->off[t->n / 2], 100.0 * t->off[t->n * 9 / 10],
         100.0 * t->off[t->n - 1], t->n_exact, t->n_false);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  if (argc < 5) {
    fprintf(stderr, "usage: bench_counts CANDIDATES SIZES MOST_STEPS SPEC...\n");
    return 2;
  }
  n_candidates = atoi(argv[1]);
  n_sizes = atoi(argv[2]);
  most_steps = atoll(argv[3]);
  const int n = argc - 4;
  struct CMUnitTest *const tests = sct_alloc(sizeof *tests * (size_t)n);
  for (int k = 0; k < n; k++) {
    tests[k] = (struct CMUnitTest){
        .name = argv[4 + k], .test_func = check_spec, .initial_state = argv[4 + k]};
  }
  const int status =
      _cmocka_run_group_tests("specs", tests, (size_t)n, picked_setup, picked_teardown);
  for (int kind = 0; kind < N_KINDS; kind++) {
    print_tally(kind);
    sct_free(tallies[kind].error);
    sct_free(tallies[kind].off);
  }
  sct_free(tests);
  return status;
}
