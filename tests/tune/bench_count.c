/* How long the model takes to count a candidate, by strategy: all candidates of a spec at all of
 * its sizes, as a search does before it begins (a few blocks) and for what is tried (the default).
 *
 *   bench_count SPEC [DEVICE]
 *
 * Prints a table of Markdown, processor time of one core. */
#include "tune/tune.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUGH_BLOCKS 6 /* as in tune_count_all.c */

typedef struct row {
  const char *strategy;
  int n;
  double rough_us, whole_us;
  uint64_t sum; /* of all counters, so that two builds can be compared */
} row;

static double processor_us(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void add(row *r, const sct_counters *c) {
  const int64_t all[] = {c->load.requests,  c->load.sectors,  c->load.tags,  c->load.bytes,
                         c->store.requests, c->store.sectors, c->store.tags, c->store.bytes,
                         c->wavefronts_ld,  c->wavefronts_st, c->shuffles,   c->blocks};
  for (int k = 0; k < SCT_COUNT(all); k++) {
    r->sum = sct_mix64(r->sum, (uint64_t)all[k]);
  }
}

/* Counts one candidate at one size; its time in microseconds. */
static double count(row *r, const sct_tune_plan *plan, const sct_kernel_code *code, int size,
                    int max_blocks) {
  sct_error err;
  sct_counters c;
  const double start_us = processor_us();
  if (sct_model_count(&c, &plan->spec, code, &plan->spec.sizes[size], max_blocks, &err) != SCT_OK) {
    fprintf(stderr, "bench_count: %s\n", err.text);
    exit(1);
  }
  const double spent_us = processor_us() - start_us;
  add(r, &c);
  sct_counters_free(&c);
  return spent_us;
}

static row *row_of(row *rows, int *n, const char *strategy) {
  for (int k = 0; k < *n; k++) {
    if (strcmp(rows[k].strategy, strategy) == 0) {
      return &rows[k];
    }
  }
  rows[*n] = (row){.strategy = strategy};
  return &rows[(*n)++];
}

int main(int argc, char **argv) {
  sct_error err;
  sct_device_desc device;
  sct_tune_plan plan;
  row rows[64];
  int n_rows = 0;
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: bench_count SPEC [DEVICE]\n");
    return 2;
  }
  if (sct_script_load_device(&device, argc > 2 ? argv[2] : "h200", &err) != SCT_OK ||
      sct_tune_plan_make(&plan, argv[1], &device, NULL, NULL, NULL, &err) != SCT_OK) {
    fprintf(stderr, "bench_count: %s\n", err.text);
    return 1;
  }
  for (int k = 0; k < plan.n_items; k++) {
    const sct_tune_item *item = &plan.items[k];
    const sct_candidate *cand = &plan.space.candidates[item->candidate];
    row *r = row_of(rows, &n_rows, plan.space.strategies[cand->strategy].name);
    for (int z = 0; z < plan.spec.n_sizes && item->code.counted; z++) {
      if (sct_codegen_fits(&plan.spec, &item->code, &plan.spec.sizes[z])) {
        r->rough_us += count(r, &plan, &item->code, z, ROUGH_BLOCKS);
        r->whole_us += count(r, &plan, &item->code, z, 0);
        r->n++;
      }
    }
  }
  printf("| strategy | counts | %d blocks, us | all that are counted, us | sum |\n"
         "|---|---:|---:|---:|---|\n",
         ROUGH_BLOCKS);
  for (int k = 0; k < n_rows && rows[k].n > 0; k++) {
    printf("| %s | %d | %.0f | %.0f | %016llx |\n", rows[k].strategy, rows[k].n,
           rows[k].rough_us / rows[k].n, rows[k].whole_us / rows[k].n,
           (unsigned long long)rows[k].sum);
  }
  sct_tune_plan_free(&plan);
  return 0;
}
