/* measure_blocks - what counting a launch from some of its blocks (measure_blocks.c) and from
 * shorter launches (measure_fit.c) have in common. */
#ifndef SCT_MEASURE_BLOCKS_H
#define SCT_MEASURE_BLOCKS_H

#include "measure_sample.h"
#include "model/model.h"

/* Figures of a block that others ask for. */
enum {
  SCT_FIGURE_STEPS,
  SCT_FIGURE_SECTORS,
  SCT_FIGURE_EXCESS,                       /* sectors, less those of contiguous requests */
  SCT_FIGURE_CHAIN,                        /* the fields of sct_chain */
  SCT_FIGURE_COUNTS = SCT_FIGURE_CHAIN + 3 /* from here to end_counts each is a count */
};

typedef struct sct_counted_kernel {
  const sct_kernel_code *code;
  const struct sct_ptx_module *module;
  const char *entry;
} sct_counted_kernel;

/* Figures of the whole launch. */
typedef struct sct_launch_sums {
  sct_grid_sums all;
  int64_t n_blocks;
  int n_figures, end_counts;    /* after the counts those that are not */
  sct_chain longest;            /* of a block */
  double met[SCT_MAX_OPERANDS]; /* of the requests of atomics, those that meet on a usual line */
} sct_launch_sums;

/* Counts the launch at `size`. *too_long: no, as one of its blocks has more than most_steps, or an
 * array is too large. */
sct_status sct_blocks_count(sct_block_counter *s, sct_launch_sums *out,
                            const sct_counted_kernel *kernel, const sct_size *size,
                            int64_t most_blocks, int64_t most_steps, bool *too_long,
                            sct_error *err);

/* What arrays a launch has. */
typedef struct sct_site_key {
  int64_t extent[SCT_MAX_EXTENTS];
  sct_fill fill[SCT_MAX_OPERANDS];
  int layout[SCT_MAX_OPERANDS];
} sct_site_key;
sct_site_key sct_site_of(const sct_spec *spec, const sct_size *size, const int *layout);
bool sct_sites_equal(const sct_site_key *a, const sct_site_key *b);

/* sct_blocks_count() of a launch that other sizes may ask for too: the counter keeps the figures
 * of the last ones (measure_short.c). A kernel is known by the hash of its code. */
typedef struct sct_short_launches sct_short_launches;
sct_status sct_short_count(sct_block_counter *s, sct_launch_sums *out, const sct_spec *spec,
                           const sct_counted_kernel *kernel, const sct_size *size,
                           int64_t most_blocks, int64_t most_steps, bool *too_long, sct_error *err);
void sct_short_launches_free(sct_short_launches *l); /* accepts NULL */
/* Where the counter keeps them; NULL: none yet. */
sct_short_launches **sct_blocks_shorter(sct_block_counter *s);

/* The same from shorter launches, where a block of this one has more than most_steps. Then
 * all.blocks_run is 0: none of this size ran. */
sct_status sct_fit_count(sct_block_counter *s, sct_launch_sums *out, const sct_spec *spec,
                         const sct_counted_kernel *kernel, const sct_size *size,
                         int64_t most_blocks, int64_t most_steps, sct_error *err);

#endif
