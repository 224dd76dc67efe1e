/* space - axes, constraints, candidates, and what a candidate becomes.
 *
 * A strategy brings ordered axes and constraints (text over axes and facts). The space enumerates
 * every combination in order, collapses axes that do not matter to their neutral value, drops what
 * the constraints forbid before anything is compiled, and counts how many for which reason. */
#ifndef SCT_SPACE_H
#define SCT_SPACE_H

#include "spec/spec.h"

/* ---- axes and strategies
 * ---------------------------------------------------------------------------------------- */

typedef struct sct_axis {
  const char *name; /* "threads" */
  const char *key;  /* "t": in labels, "t256" */
  const char *doc;
  sct_axis_value *values;
  int n_values;
  int neutral;      /* index of the value taken when the axis does not matter */
  const char *when; /* condition over earlier axes and facts, NULL: always matters */
} sct_axis;

typedef struct sct_constraint {
  const char *text;
  const char *file;
  int line; /* where it stands, for messages; 0 unknown */
} sct_constraint;

typedef struct sct_fact {
  const char *name; /* "record_bytes", "smem_bytes": integers that constraints may use */
  int64_t value;
} sct_fact;

#define SCT_MAX_AXES 24

typedef struct sct_strategy {
  const char *name; /* "staged" */
  const char *doc;
  const char *file;          /* asset or path it came from */
  const char *template_name; /* "direct.cu" */
  int source;                /* which of the script's strategies; 0: that of naive variants */
  const sct_own *own;        /* instead of all this: a kernel of the user's, source -1; else NULL */
  const bool *sizes; /* [n_sizes] the tuned sizes that these axes are for; NULL: all of them */
  bool has_math;     /* the last axis is that of exact or fast arithmetic */
  bool applies;
  const char *why_not; /* the reason, if it does not apply */
  int n_axes;
  sct_axis *axes;
  int n_where;
  sct_constraint *where;
  int n_facts;
  sct_fact *facts;
} sct_strategy;

/* A strategy with a value for every axis. Plain data: copy freely. */
typedef struct sct_candidate {
  int strategy; /* index into sct_space.strategies */
  int size;     /* rendered for this tuned size alone, from 1; 0: for all those of the strategy */
  int16_t value[SCT_MAX_AXES]; /* index into each axis' values */
} sct_candidate;

typedef struct sct_prune {
  const char *strategy;
  const char *reason; /* the constraint's text, or the plan's reason */
  int64_t count;
} sct_prune;

typedef struct sct_space {
  sct_arena arena; /* owns everything below but the pool */
  sct_expr_pool *pool;
  int n_strategies;
  sct_strategy *strategies; /* in file-name order; "direct" first. One that has other axes at other
                               sizes is there for each of them */
  int64_t n_points;    /* product of the axes' lengths, summed over the strategies that apply */
  int64_t n_collapsed; /* points equal to another one because an axis did not matter */
  size_t n_candidates, cap_candidates;
  sct_candidate *candidates; /* what remains, in order */
  size_t n_prunes, cap_prunes;
  sct_prune *prunes; /* in order of first occurrence */
} sct_space;
/* Is candidate number `candidate` one of fast arithmetic? */
bool sct_space_is_fast(const sct_space *space, int64_t candidate);

/* Parses every constraint and `when` (SCT_ESPEC: "file:line: error: ..." with the nearest axis or
 * fact), then fills candidates, prunes and counts. An axis without values is SCT_ESPEC. */
sct_status sct_space_enumerate(sct_space *space, sct_error *err);
/* Records that candidate `index` fell to `reason` after enumeration (its plan, equal source); it
 * stays in the list, the caller skips it. The text is copied. */
void sct_space_prune(sct_space *space, int strategy, const char *reason);
void sct_space_free(sct_space *space);

/* A number for a string value, equal for equal strings in one process and never that of a small
 * integer. */
int64_t sct_space_intern(const char *text);
/* "map threads=256 items=2": the strategy and the key and value of every axis with more than one
 * value, at some size or other. */
void sct_space_label(sct_str *out, const sct_space *space, const sct_candidate *cand);
/* Index of the first candidate from `from` on with this label, or -1; `err` then names the nearest
 * label. Where a strategy has other axes at other sizes, several may have it. */
int64_t sct_space_find(const sct_space *space, const char *label, int64_t from, sct_error *err);

/* ---- what a candidate becomes
 * ----------------------------------------------------------------------------------- */

/* A plan's estimate of an operand's traffic, before anything is compiled. Expressions are over
 * extents, NONE where the plan leaves it to sct_model_estimate(). */
typedef struct sct_traffic {
  int width; /* bytes a lane moves at a time; 0: no estimate */
  bool is_store, is_bulk;
  sct_expr bytes;          /* that the whole kernel asks for */
  sct_expr sectors, lines; /* of 32 and 128 bytes that its requests touch, summed */
} sct_traffic;

/* A generated kernel: source, how to launch it, and what it needs. Owned by its arena, or by those
 * of whoever took it from a message. */
#define SCT_MAX_TILES 4
typedef struct sct_kernel_code {
  sct_arena arena;
  const char
      *source; /* self-contained, header-free CUDA; exactly what is timed, stored and emitted */
  const char *kernel;       /* name of the __global__ function in it; of one of the user's, which
                               `params` tells, with template arguments */
  const char *launcher_doc; /* one sentence on how it works, for the header */
  sct_hash hash;            /* of source and launch */
  int threads;              /* of a block */
  sct_expr grid;            /* number of blocks, over extents */
  int n_tiles;              /* 0: unknown; else the grid is the product of these, and a block's
                               number is in them, fastest first */
  sct_expr tiles[SCT_MAX_TILES];
  int block[3];          /* x, y and z where the kernel is the user's; else all is 1-D */
  sct_expr grid_dims[3]; /* blocks along x, y and z, over extents, where the kernel is the user's */
  int n_params;          /* 0: parameters are operands, scalars, extents, the workspace */
  sct_param *params;     /* else what each of the kernel's parameters receives */
  int rounds;            /* its blocks loop over tiles, any number of blocks will do, and after
                            so many tiles of a block all has happened; 0: no such loop */
  int windows;           /* parts of what an index points to that come one after the other, so
                            that L2 holds the current one; 0: all of it at once */
  int64_t shared_bytes;  /* dynamic shared memory */
  int64_t static_shared_bytes; /* declared in the source */
  int n_require;
  sct_expr *require;     /* conditions over extents under which the kernel is right; others take the
                            naive variant */
  int64_t *align;        /* [n_operands] alignment the base pointers need */
  const char **argument; /* [n_operands] pointer types of the kernel's arguments: "const vec3 *" */
  int *layout;           /* [n_operands] which layout alternative of each operand it is for */
  int64_t
      workspace_bytes; /* of an argument after the extents, which is 0 before the first launch and
                          then as the one before left it; 0: the kernel has no such argument */
  int passes; /* above 1: it is a sequence of so many launches, each after the one before, of the
                 same grid: an int after the workspace numbers them; 0: one launch without it */
  const char *lines;    /* which line of which template wrote each line of source
                           (sct_codegen_line) */
  const char *launch;   /* how to launch it, as JSON (docs/store.md) */
  sct_traffic *traffic; /* [n_operands] for an estimate until the compiled code is counted */
  sct_expr wavefronts;  /* of shared memory, an estimate too; SCT_EXPR_NONE: none */
  bool indexed;         /* an address depends on the value of an index array */
} sct_kernel_code;
void sct_kernel_code_free(sct_kernel_code *code);

#endif
