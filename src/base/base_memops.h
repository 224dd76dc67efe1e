/* Memory instructions of one kernel, counted statically: what a listing (PTX or machine code)
 * holds, not what a launch executes. Two listings of one kernel are compared to see whether the
 * compiler kept the loads and stores that were counted. */
#ifndef SCT_BASE_MEMOPS_H
#define SCT_BASE_MEMOPS_H

#include <stdint.h>

typedef enum sct_mem_space {
  SCT_MEM_GLOBAL,
  SCT_MEM_SHARED,
  SCT_MEM_LOCAL,
  SCT_MEM_GENERIC, /* address space known at run time only */
  SCT_MEM_N_SPACES
} sct_mem_space;

typedef enum sct_mem_op {
  SCT_MEM_LOAD,
  SCT_MEM_STORE,
  SCT_MEM_ATOMIC, /* atom, red */
  SCT_MEM_ASYNC,  /* cp.async: global to shared, counted under SCT_MEM_GLOBAL */
  SCT_MEM_N_OPS
} sct_mem_op;

#define SCT_MEM_N_WIDTHS 6 /* bytes a lane: 1, 2, 4, 8, 16, 32 */

typedef struct sct_memops {
  int32_t n[SCT_MEM_N_SPACES][SCT_MEM_N_OPS][SCT_MEM_N_WIDTHS];
  int32_t bulk;    /* cp.async.bulk, both ways */
  int32_t texture; /* tex */
} sct_memops;

#endif
