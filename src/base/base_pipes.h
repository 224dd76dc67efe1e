/* Machine instructions by the pipe of a multiprocessor that executes them: what a run of PTX comes
 * to, and what a device does of each in a cycle. */
#ifndef SCT_BASE_PIPES_H
#define SCT_BASE_PIPES_H

#include <stdint.h>

typedef enum sct_pipe {
#define SCT_PIPE(id, name, doc) SCT_PIPE_##id,
#include "base_pipes.def"
#undef SCT_PIPE
  SCT_N_PIPES
} sct_pipe;

/* Instructions of warps; those of SCT_PIPE_ISSUE are all of them. */
typedef struct sct_executed {
  int64_t n[SCT_N_PIPES];
} sct_executed;

#endif
