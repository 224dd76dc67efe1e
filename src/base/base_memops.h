/* Memory instructions of one kernel, counted statically: what a listing (PTX or machine code)
 * holds, not what a launch executes. Two listings of one kernel are compared to see whether the
 * compiler kept the loads and stores that were counted. */
#ifndef SCT_BASE_MEMOPS_H
#define SCT_BASE_MEMOPS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sct_memop_space {
  SCT_MEMOP_GLOBAL,
  SCT_MEMOP_SHARED,
  SCT_MEMOP_LOCAL,
  SCT_MEMOP_GENERIC, /* address space known at run time only */
  SCT_MEMOP_N_SPACES
} sct_memop_space;

typedef enum sct_memop_kind {
  SCT_MEMOP_LOAD,
  SCT_MEMOP_STORE,
  SCT_MEMOP_ATOMIC, /* atom, red */
  SCT_MEMOP_ASYNC,  /* cp.async: global to shared, counted under SCT_MEMOP_GLOBAL */
  SCT_MEMOP_N_OPS
} sct_memop_kind;

#define SCT_MEMOP_N_WIDTHS 6 /* bytes a lane: 1, 2, 4, 8, 16, 32 */

typedef struct sct_memops_loop {
  bool uniform; /* a run showed that lanes leave it, and the loops around it, together */
  int32_t n[SCT_MEMOP_N_SPACES][SCT_MEMOP_N_OPS][SCT_MEMOP_N_WIDTHS];
} sct_memops_loop;

#define SCT_MEMOP_MAX_LOOPS 16

typedef struct sct_memops {
  int32_t n[SCT_MEMOP_N_SPACES][SCT_MEMOP_N_OPS][SCT_MEMOP_N_WIDTHS];
  int32_t bulk;    /* cp.async.bulk, both ways */
  int32_t waiting; /* PTX only: volatile, relaxed or acquiring loads of global memory in a loop */
  /* PTX only: what of `n` stands in each innermost loop. Loops beyond the last place of the array
   * are left out, so their instructions count as straight code. */
  int32_t n_loops;
  sct_memops_loop loops[SCT_MEMOP_MAX_LOOPS];
} sct_memops;

/* Index of a width of 1, 2, 4, 8, 16 or 32 bytes; -1: none of them. */
static inline int sct_memop_width_index(int bytes) {
  int index = 0;
  while (bytes > 1 && bytes % 2 == 0) {
    bytes /= 2;
    index++;
  }
  return bytes == 1 && index < SCT_MEMOP_N_WIDTHS ? index : -1;
}

#endif
