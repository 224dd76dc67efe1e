/* Figures of shorter launches, each counted once: those that sizes are fitted from (measure_fit.c)
 * are the same where the extents differ by a multiple of a period, and a period is looked at before
 * it is taken. */
#include "measure_blocks.h"

#include <string.h>

#define MOST_KEPT 256 /* of all kernels of a counter; the oldest make room */

/* One that was counted, or was too long. */
typedef struct short_launch {
  sct_hash kernel;
  sct_site_key site;
  int64_t most_blocks, most_steps;
  sct_status status;
  bool too_long;
  sct_launch_sums sums;
} short_launch;

struct sct_short_launches {
  short_launch list[MOST_KEPT];
  int n, next;
};

sct_site_key sct_site_of(const sct_spec *spec, const sct_size *size, const int *layout) {
  sct_site_key key = {0};
  memcpy(key.extent, size->extent, sizeof *key.extent * (size_t)spec->n_extents);
  memcpy(key.fill, size->fill, sizeof *key.fill * (size_t)spec->n_operands);
  memcpy(key.layout, layout, sizeof *key.layout * (size_t)spec->n_operands);
  return key;
}

bool sct_sites_equal(const sct_site_key *a, const sct_site_key *b) {
  return memcmp(a->extent, b->extent, sizeof a->extent) == 0 &&
         memcmp(a->fill, b->fill, sizeof a->fill) == 0 &&
         memcmp(a->layout, b->layout, sizeof a->layout) == 0;
}

static double *copy_figures(const sct_launch_sums *sums) {
  double *const copy = sct_alloc(sizeof *copy * (size_t)sums->n_figures + 1);
  memcpy(copy, sums->all.figures, sizeof *copy * (size_t)sums->n_figures);
  return copy;
}

static bool same_launch(const short_launch *a, const short_launch *b) {
  return sct_hash_equal(a->kernel, b->kernel) && sct_sites_equal(&a->site, &b->site) &&
         a->most_blocks == b->most_blocks && a->most_steps == b->most_steps;
}

static const short_launch *find(const sct_short_launches *l, const short_launch *wanted) {
  for (int k = 0; k < l->n; k++) {
    if (same_launch(&l->list[k], wanted)) {
      return &l->list[k];
    }
  }
  return NULL;
}

static const short_launch *keep(sct_short_launches *l, const short_launch *counted) {
  short_launch *const kept = &l->list[l->next];
  l->next = (l->next + 1) % MOST_KEPT;
  l->n += l->n < MOST_KEPT;
  sct_free(kept->sums.all.figures);
  *kept = *counted;
  return kept;
}

sct_status sct_short_count(sct_block_counter *s, sct_launch_sums *out, const sct_spec *spec,
                           const sct_counted_kernel *kernel, const sct_size *size,
                           int64_t most_blocks, int64_t most_steps, bool *too_long,
                           sct_error *err) {
  sct_short_launches **const all = sct_blocks_shorter(s);
  short_launch wanted = {.kernel = kernel->code->hash,
                         .site = sct_site_of(spec, size, kernel->code->layout),
                         .most_blocks = most_blocks,
                         .most_steps = most_steps};
  *all = *all != NULL ? *all : sct_alloc(sizeof **all);
  const short_launch *kept = find(*all, &wanted);
  if (kept == NULL) {
    wanted.status = sct_blocks_count(s, &wanted.sums, kernel, size, most_blocks, most_steps,
                                     &wanted.too_long, NULL);
    kept = keep(*all, &wanted);
  }
  *too_long = kept->too_long;
  if (kept->status != SCT_OK) {
    return sct_fail(err, kept->status, "a shorter launch is not counted");
  }
  *out = kept->sums;
  out->all.figures = copy_figures(out);
  return SCT_OK;
}

void sct_short_launches_free(sct_short_launches *l) {
  for (int k = 0; l != NULL && k < l->n; k++) {
    sct_free(l->list[k].sums.all.figures);
  }
  sct_free(l);
}
