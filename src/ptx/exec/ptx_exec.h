/* The executor's state: one ptx_exec a host thread, one ptx_warp a warp of the current block.
 *
 * The register file keeps, per slot, 32 lanes of data (ptx_code.h) and one state word: the lanes
 * whose value is undefined. Which bits of an undefined lane are undefined is kept on the side
 * (`bits`) and only looked at when there is one: the common case costs one OR. */
#ifndef SCT_PTX_EXEC_H
#define SCT_PTX_EXEC_H

#include "ptx/exec/ptx_memory.h"

#include <string.h>

typedef struct ptx_path { /* entry of the reconvergence stack */
  int32_t pc;             /* block to run */
  int32_t rpc;            /* block where this path ends; -1: at the end of the function */
  uint32_t mask;
} ptx_path;

typedef struct ptx_frame { /* one function being executed */
  int32_t body;
  int32_t call;       /* index into ptx_code.calls, -1 for the kernel */
  int32_t path_base;  /* first entry of the reconvergence stack */
  uint32_t returned;  /* lanes that have executed ret */
  uint32_t mask;      /* lanes that called */
  size_t slot_base;   /* in the register file */
  int64_t local_base; /* in local memory: .local arrays, then call parameters */
  int64_t param_base; /* own parameters in local memory (not of the kernel) */
} ptx_frame;

#define PTX_MAX_FRAMES 64
#define PTX_MAX_PATHS  72 /* a frame: each divergence splits a mask, so 63 suffice */

typedef enum ptx_warp_status {
  PTX_WARP_READY,
  PTX_WARP_BARRIER,
  PTX_WARP_CLUSTER, /* waits for the barrier of the cluster */
  PTX_WARP_DONE
} ptx_warp_status;

/* A vector clock: the last epoch of each warp, and of the copies of each mbarrier, that happened
 * before (`known`), and the last one whose writes a proxy fence has made visible to asynchronous
 * copies (`fenced`). See ptx_race.c. */
#define PTX_N_WHO       64
#define PTX_WHO_COPY    43 /* and up: by mbarrier */
#define PTX_WHO_CLUSTER 41 /* another block */
typedef struct ptx_clock {
  uint32_t known[PTX_N_WHO], fenced[PTX_N_WHO];
} ptx_clock;

/* Order between blocks (ptx_blocks.c). Some blocks of the launch, by the number in the order in
 * which they began: ranges, ascending. */
#define PTX_N_RANGES 6
typedef struct ptx_blocks {
  int n;
  uint32_t from[PTX_N_RANGES], end[PTX_N_RANGES];
} ptx_blocks;

/* What fences cover for other blocks, by their scope (PTX_SCOPE_DEVICE, PTX_SCOPE_CLUSTER): of each
 * warp of the block the accesses before this epoch. */
#define PTX_N_WIDE 2
typedef struct ptx_cover {
  uint32_t before[PTX_N_WIDE][PTX_LANES];
} ptx_cover;

typedef struct ptx_order ptx_order;

/* A wait for an mbarrier that has failed. */
typedef struct ptx_idle {
  int tries;       /* in a row, with nothing in between */
  uint64_t events; /* changes of any mbarrier up to the last one */
  int64_t steps;   /* of the block, then */
  const ptx_uop *by;
  int lane, mbar;
} ptx_idle;

/* A cp.async that has been issued and not waited for: bytes on their way to shared memory. */
typedef struct ptx_async {
  uint32_t group; /* number of its commit group */
  uint8_t lane;
  uint8_t bytes;
  bool done;
  uint32_t inst;
  int64_t address; /* shared */
  int32_t mbar;    /* that tells of its end; -1: none */
  uint32_t phase;  /* of the mbarrier */
  uint8_t data[16], defined[16];
} ptx_async;

/* An mbarrier: its state is the 8 bytes in shared memory, and here is what they must be. */
typedef struct ptx_mbar {
  int64_t address;
  uint64_t bits;
  bool live;      /* initialised and not invalidated */
  uint32_t phase; /* that are over */
  uint32_t done;  /* epoch in which the last one ended */
  uint8_t who;    /* its copies, in a ptx_clock */
  ptx_clock arriving, ended;
} ptx_mbar;

/* A cp.async.bulk between issue and wait. */
typedef struct ptx_bulk {
  bool load;      /* to shared memory */
  bool signalled; /* a load: the mbarrier knows of its bytes; a store: its source has been read */
  uint8_t lane;
  int warp;
  const ptx_uop *by;
  int64_t shared, bytes;
  int32_t mbar; /* of a load, and the phase it ended in */
  uint32_t phase;
  uint32_t group; /* of a store, and where it goes */
  ptx_buf *buf;
  int64_t offset;
  uint8_t *data, *defined; /* [bytes]; one allocation */
} ptx_bulk;

/* When something has happened: half cycles, loads included, and after how many of these that wait
 * for each other; `near`: that find their line in L1 (ptx_chain.c). */
typedef struct ptx_when {
  int64_t half_cycles;
  int32_t loads, near;
} ptx_when;

/* A line of 128 bytes, and which of its sectors were loaded: L1 fetches no others. */
typedef struct ptx_line {
  uint64_t number; /* plus 1 */
  uint32_t sectors;
} ptx_line;

#define PTX_LOADS_AT_ONCE 16
#define PTX_COPY_GROUPS   8  /* of cp.async that may be under way */
#define PTX_NEAR_LINES    64 /* of a warp: 8 KiB */
#define PTX_BLOCK_LINES   2048
typedef struct ptx_chain {
  /* nothing starts before `now`, what is past the next large branch before `last`, what is past a
   * barrier, and the end, before `stored` */
  ptx_when now, last, stored;
  ptx_when copied[PTX_COPY_GROUPS]; /* groups of cp.async, the open one too */
  uint32_t n_groups;
  ptx_when *ready; /* [n_slots] of the kernel's own; NULL: chains are not followed */
  ptx_when under_way[PTX_LOADS_AT_ONCE];
  uint32_t n_loads, n_iterations;
  ptx_line line[PTX_NEAR_LINES]; /* of the first lanes of loads */
} ptx_chain;

typedef struct ptx_warp {
  int index; /* in its block */
  ptx_warp_status status;
  uint32_t lanes; /* that exist */
  uint32_t exited;
  uint32_t carry;
  uint8_t *regs;   /* [n_slots] register file, all frames */
  uint32_t *state; /* [n_slots] */
  uint64_t *bits;  /* [n_slots][32] undefined bits; NULL until needed */
  uint8_t
      *has_bits; /* [n_slots] bits of this slot are valid; else an undefined lane is so entirely */
  uint32_t *origins; /* [n_slots][32] the load that brought an undefined value, plus 1; 0: none.
                        NULL until there is one */
  size_t n_slots;
  ptx_path *paths;
  int n_paths, cap_paths;
  ptx_frame *frames;
  int n_frames;
  uint8_t *local, *local_defined; /* [32][local_bytes] */
  int64_t local_bytes;
  const ptx_uop *barrier; /* while it waits */
  uint32_t barrier_mask;
  int barrier_id;
  bool arrived;           /* at the barrier of the cluster, and has not waited yet */
  uint32_t cluster_phase; /* then */
  ptx_async *asyncs;
  size_t n_asyncs, cap_asyncs;
  int64_t steps;                   /* instructions in this block */
  uint32_t async_group[PTX_LANES]; /* open commit group, by lane */
  uint32_t sync; /* number of the last operation that brought its lanes together */
  uint32_t bulk_group[PTX_LANES];
  uint32_t stamp;    /* epoch of what it does: grows when others may be ordered after it */
  uint32_t acquired; /* epoch of its last wait for an mbarrier */
  ptx_clock clock;
  ptx_idle idle;
  bool fenced; /* since the last barrier: what it writes to a flag is a release */
  ptx_chain chain;
  uint32_t seen, synced; /* warps whose releases it has read, and has acquired */
  ptx_cover cover;       /* by its fences since the last barrier */
  ptx_blocks after;      /* blocks whose releases it has read since then */
} ptx_warp;

typedef struct ptx_rules ptx_rules;

/* How many requests of atomics came to a line so far, and of the block that came last. */
#define PTX_LINE_BITS 13
typedef struct ptx_lines {
  uint32_t request; /* number of the current one */
  struct {
    uint32_t request, block; /* the last ones */
    uint32_t n, n_block;
  } line[1 << PTX_LINE_BITS];
} ptx_lines;

typedef struct ptx_findings ptx_findings; /* of a launch that goes on (ptx_findings.c) */

/* What came before a diagnosis. */
typedef struct ptx_before {
  uint32_t inst; /* its number, plus 1; 0: not known */
  int warp, lane;
} ptx_before;

typedef struct ptx_links ptx_links;   /* what chains are made of (ptx_chain.c) */
typedef struct ptx_caches ptx_caches; /* ptx_cache.c */

/* What a launch fixes for all its blocks. */
typedef struct ptx_launch {
  const sct_ptx_module *module;
  const ptx_code *code;
  const sct_ptx_launch_opts *opts;
  sct_ptx_memory *memory;
  const ptx_func *kernel;
  uint8_t *params; /* parameter block */
  int64_t grid[3], block[3];
  int64_t n_blocks;     /* of the grid */
  int64_t first, n_run; /* of a pass those that are to run, or clusters */
  int n_cluster;        /* blocks of a cluster */
  int n_together;       /* blocks that run at once: of a cluster, or of a cooperative grid */
  int pass, passes;     /* of a sequence: the current one, and how many there are */
  bool cooperative;
  int n_warps, n_threads; /* of a block */
  int64_t shared_end;     /* first address after all shared arrays */
  int64_t max_steps;
  bool definedness, races, counters;
  ptx_order *order;            /* between blocks of a pass; NULL: no races are looked for */
  ptx_caches *caches;          /* NULL: none */
  const ptx_rules *rules;      /* of an older device's accesses; NULL: CC 7.0 and later */
  ptx_lines *lines;            /* if buffers are counted; atomics run on one host thread */
  ptx_links *links;            /* if chains are followed */
  struct ptx_printed *printed; /* by calls of printf */
  ptx_findings *findings;      /* NULL: the first one ends the launch */
} ptx_launch;

typedef struct ptx_range {
  int64_t lo, hi;
  int64_t padded; /* loads that begin below hi may reach so far */
  const ptx_sym *sym;
} ptx_range;

typedef struct ptx_barrier {
  int32_t arrived;  /* threads */
  int32_t expected; /* 0: all threads of the block */
  bool used;
  uint32_t votes, all;
  const ptx_uop *by;
} ptx_barrier;

#define PTX_N_BARRIERS 16

typedef struct ptx_flag { /* its address and the warps that have released there */
  uint64_t place;
  uint32_t warps;
} ptx_flag;

#define PTX_N_FLAGS 64

/* The sectors that a block touches, in order (ptx_cache.c). */
typedef struct ptx_trace {
  uint64_t *words;
  size_t n, cap, at; /* at: where replaying is */
  bool cut;
} ptx_trace;

/* Blocks that run together (ptx_cluster.c). */
typedef struct ptx_cluster {
  ptx_exec *blocks; /* [n] from the one of `rank` on */
  int n, rank;
  int arrived;    /* warps, at the barrier */
  uint32_t phase; /* how often it was complete */
} ptx_cluster;

/* The last access of another block of the cluster to a block's shared memory. */
typedef struct ptx_visit {
  ptx_exec *by; /* NULL: none */
  ptx_warp *warp;
  const ptx_uop *u;
  int lane;
  uint32_t phase; /* of the cluster */
  int dir;        /* ptx_dir */
} ptx_visit;

struct ptx_exec {
  /* of the current warp and micro-operation */
  uint8_t *regs;
  uint32_t *state;
  uint32_t mask;
  bool stop;  /* a diagnosis was made */
  bool soft;  /* ... that a race found later would explain: only the warp stops */
  bool yield; /* the warp waits for others */
  bool waits; /* ... for an mbarrier */
  bool looks; /* ... perhaps, for other blocks: of a cooperative grid, at flags */
  ptx_warp *warp;
  ptx_frame *frame;
  /* of the block */
  int64_t block_index, block[3];
  int64_t steps;
  uint32_t epoch;        /* grows at every barrier, arrival and wait */
  uint32_t base;         /* all that is older has happened before */
  uint32_t block_epoch;  /* where the block began */
  uint32_t cluster_base; /* what is older comes before what other blocks write */
  uint32_t number;       /* in the order in which the launch's blocks began */
  ptx_cover cover;       /* by fences before the last barrier */
  ptx_blocks after;      /* blocks whose releases were read before it */
  bool fenced;           /* a warp has fenced or read since: barriers have something to join */
  ptx_cluster *cluster;
  ptx_visit visit;
  uint64_t changes;    /* stores, updates, barriers and ends: what others may wait for */
  const ptx_uop *look; /* the last look at a flag, of this warp */
  const ptx_warp *looker;
  bool ended;                          /* all warps have, or the block has a diagnosis */
  uint64_t events;                     /* changes of mbarriers */
  uint8_t *shared, *shared_defined;    /* by shared address */
  ptx_last_access *shared_last_access; /* by shared address >> granule shift */
  ptx_lanes *shared_lanes;             /* by shared address >> granule shift */
  ptx_touch *shared_touches;           /* the same, with findings */
  uint32_t n_syncs;                    /* numbers given to ptx_warp.sync */
  ptx_range *ranges;
  int n_ranges;
  ptx_barrier barriers[PTX_N_BARRIERS];
  ptx_clock barrier_clocks[PTX_N_BARRIERS]; /* of those with a thread count */
  ptx_mbar *mbars;
  size_t n_mbars, cap_mbars;
  ptx_bulk *bulks;
  size_t n_bulks, cap_bulks;
  ptx_flag flags[PTX_N_FLAGS]; /* since the barrier `flags_base` */
  int n_flags;
  uint32_t flags_rest, flags_base;
  /* of the thread */
  bool shares; /* its counters are another block's */
  const ptx_launch *launch;
  const ptx_code *code;
  ptx_warp *warps;
  int *order; /* [n_warps] in which order they run */
  uint64_t clock;
  struct {
    ptx_buf *buf;     /* NULL: none */
    int64_t from, to; /* the bytes that it left undefined are among these */
    sct_ptx_diag diag;
  } unset;                /* the block's first undefined store: sct_ptx_fault_unless_set() */
  sct_ptx_diag diag;      /* with stop set, or the block's first soft one */
  ptx_before before;      /* of the next one */
  const ptx_touch *touch; /* of the granule that is looked at; NULL: not known */
  bool has_soft;          /* a warp of the block has stopped */
  sct_ptx_counters counters;
  sct_ptx_inst_counters *insts;       /* [n_insts] */
  sct_ptx_requests *requests;         /* [n_insts], if they are wanted */
  int64_t *block_runs, *block_lanes;  /* [n_blocks] */
  sct_ptx_buffer_counters *by_buffer; /* [n_buffers], if they are wanted */
  ptx_trace trace;                    /* of the block, if caches are asked for */
  ptx_when copied;                    /* asynchronous copies of the block */
  bool *is_near;                      /* [n_insts] of a load that was executed last */
  uint8_t *seen;                      /* of sct_ptx_launch_opts */
  ptx_line *loaded;                   /* [PTX_BLOCK_LINES] by the block, of first lanes */
};

/* ---- registers */

static inline uint32_t *ptx_r32(const ptx_exec *x, uint32_t slot) {
  return (uint32_t *)(void *)(x->regs + (size_t)slot * PTX_SLOT_BYTES);
}
static inline uint64_t *ptx_r64(const ptx_exec *x, uint32_t slot) {
  return (uint64_t *)(void *)(x->regs + (size_t)slot * PTX_SLOT_BYTES);
}
static inline float *ptx_rf32(const ptx_exec *x, uint32_t slot) {
  return (float *)(void *)(x->regs + (size_t)slot * PTX_SLOT_BYTES);
}
static inline double *ptx_rf64(const ptx_exec *x, uint32_t slot) {
  return (double *)(void *)(x->regs + (size_t)slot * PTX_SLOT_BYTES);
}
static inline uint32_t *ptx_pred(const ptx_exec *x, uint32_t slot) {
  return ptx_r32(x, slot);
}

static inline int ptx_count_lanes(uint32_t mask) {
  return mask == PTX_ALL ? PTX_LANES : __builtin_popcount(mask);
}

static inline int ptx_first_lane(uint32_t mask) {
  return __builtin_ctz(mask);
}

/* The condition of `u` holds in the lanes `yes` of those that are `live`. */
static inline void ptx_see(ptx_exec *x, const ptx_uop *u, uint32_t yes, uint32_t live) {
  if (x->seen != NULL && x->seen[u->inst] != (SCT_PTX_WAS_TRUE | SCT_PTX_WAS_FALSE)) {
    const bool held = (yes & live) != 0, failed = (~yes & live) != 0;
    x->seen[u->inst] |= (uint8_t)((held ? SCT_PTX_WAS_TRUE : 0) | (failed ? SCT_PTX_WAS_FALSE : 0));
  }
}

/* Four lanes' masks, so that a blend needs no shift by lane. */
extern const uint32_t sct_ptx_nibble[16][4];

static inline void ptx_blend32(uint32_t *d, const uint32_t *t, uint32_t mask) {
  for (int q = 0; q < 8; q++) {
    const uint32_t *k = sct_ptx_nibble[mask >> (4 * q) & 15];
    for (int i = 0; i < 4; i++) {
      d[4 * q + i] = (t[4 * q + i] & k[i]) | (d[4 * q + i] & ~k[i]);
    }
  }
}

static inline void ptx_blend64(uint64_t *d, const uint64_t *t, uint32_t mask) {
  for (int i = 0; i < PTX_LANES; i++) {
    const uint64_t k = 0 - (uint64_t)(mask >> i & 1);
    d[i] = (t[i] & k) | (d[i] & ~k);
  }
}

/* The low bits of v that a value of the type has, and its sign above where it has one. */
uint64_t sct_ptx_extend(uint64_t v, ptx_type type);
/* Undefined bits of the result in `lanes`, those in which an operand has some. */
void sct_ptx_undef_propagate(ptx_exec *x, const ptx_uop *u, uint32_t lanes);
/* Sets the state of slot `d` in `lanes`: undefined lanes hold `bits`. */
void sct_ptx_undef_set(ptx_exec *x, uint32_t d, uint32_t lanes, const uint64_t *bits);
/* Undefined bits of `lane` of `slot`. */
uint64_t sct_ptx_undef_get(const ptx_exec *x, uint32_t slot, int lane);

/* Definedness of a result: the union of its operands'. */
static inline void ptx_propagate_undef(ptx_exec *x, const ptx_uop *u) {
  const uint32_t undefined = x->state[u->a] | x->state[u->b] | x->state[u->c] | x->state[u->e];
  if ((undefined & x->mask) != 0) {
    sct_ptx_undef_propagate(x, u, undefined & x->mask);
  } else {
    x->state[u->d] &= ~x->mask;
  }
}

static inline void ptx_put32(ptx_exec *x, const ptx_uop *u, const uint32_t *t) {
  ptx_propagate_undef(x, u); /* first: the destination may be a source */
  if (x->mask == PTX_ALL) {
    memcpy(ptx_r32(x, u->d), t, 4 * PTX_LANES);
  } else {
    ptx_blend32(ptx_r32(x, u->d), t, x->mask);
  }
}

static inline void ptx_put64(ptx_exec *x, const ptx_uop *u, const uint64_t *t) {
  ptx_propagate_undef(x, u);
  if (x->mask == PTX_ALL) {
    memcpy(ptx_r64(x, u->d), t, 8 * PTX_LANES);
  } else {
    ptx_blend64(ptx_r64(x, u->d), t, x->mask);
  }
}

static inline void ptx_put_pred(ptx_exec *x, const ptx_uop *u, uint32_t t) {
  ptx_propagate_undef(x, u);
  uint32_t *d = ptx_pred(x, u->d);
  *d = (*d & ~x->mask) | (t & x->mask);
}

/* The low `bytes` of v, 2, 4 or 8, in a register of that width or of 32 bits (ptx_bits.c). */
void sct_ptx_put(ptx_exec *x, const ptx_uop *u, int bytes, const uint64_t *v);

/* ---- faults */

/* Records the diagnosis and stops the launch; always false. `lane` -1: none.
 *
 * Undefined values are soft while races are looked for: what is undefined now may be what another
 * warp writes later without a barrier in between, and then the race is what the user must hear of.
 * So only the warp stops; the rest of the block runs to its next barrier, the other blocks run too.
 */
bool sct_ptx_fault(ptx_exec *x, const ptx_uop *u, sct_ptx_kind kind, int lane, uint64_t address,
                   const char *fmt, ...) SCT_PRINTF(6, 7);

/* The same for races and undefined values. true: it was kept, and what was found goes on. */
bool sct_ptx_find(ptx_exec *x, const ptx_uop *u, sct_ptx_kind kind, int lane, uint64_t address,
                  const char *fmt, ...) SCT_PRINTF(6, 7);

/* A value that was never set is stored to byte `from` of `buf`, perhaps to more of them up to `to`.
 * Compilers store whole vectors of which they overwrite the undefined words at once, so it is wrong
 * only if one of the bytes is still undefined at the end of the block, when
 * sct_ptx_fault_if_unset() looks; of several such stores the first stands. In a buffer whose bytes
 * are not tracked it is wrong at once. */
void sct_ptx_fault_unless_set(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address,
                              ptx_buf *buf, int64_t from, int64_t to);
void sct_ptx_fault_if_unset(ptx_exec *x);

/* ---- memory accesses */

typedef enum ptx_dir { PTX_READ, PTX_WRITE, PTX_ATOMIC } ptx_dir;

/* One warp access. */
typedef struct ptx_access {
  uint64_t addr[PTX_LANES]; /* valid in the active lanes */
  uint32_t mask;
  int width;     /* bytes a lane */
  bool full_run; /* all 32 lanes, contiguous in lane order */
  bool uncached; /* a load that asked to pass by L1 */
  ptx_dir dir;
} ptx_access;

/* Part of an access that falls into one piece of memory. */
typedef struct ptx_part {
  uint8_t *host, *defined; /* of address `origin`; defined may be NULL */
  uint64_t origin;
  uint64_t keep; /* bits of an offset that count: a folded buffer's are few */
  uint32_t mask;
  ptx_buf *buf; /* global memory; NULL: shared or local */
  bool shared;
  ptx_exec *peer; /* whose shared memory it is, if another block's */
  int64_t stride; /* local memory: added once a lane */
} ptx_part;

/* A warp looks at what other blocks of a cooperative grid may write: they get their turn. */
static inline void ptx_look(ptx_exec *x, const ptx_uop *u) {
  if (x->launch->cooperative) {
    x->yield = x->looks = true;
    x->look = u;
    x->looker = x->warp;
  }
}

/* Fills `acc` with base + imm of slot u->a; false after a fault (undefined address). */
bool sct_ptx_addresses(ptx_exec *x, const ptx_uop *u, ptx_access *acc);
const char *sct_ptx_verb(ptx_dir dir); /* "reads" */
/* Finds the lanes of `todo` that lie in the same piece of memory as the first of them; bounds,
 * alignment and permission are checked. An empty mask: fault. */
ptx_part sct_ptx_part_global(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t todo);
ptx_part sct_ptx_part_shared(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t todo);
ptx_part sct_ptx_part_local(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t todo);

/* ---- caches (ptx_cache.c): what blocks touch, replayed in waves */

void sct_ptx_trace_access(ptx_trace *t, const ptx_access *acc);
void sct_ptx_trace_bulk(ptx_trace *t, uint64_t address, int64_t bytes, bool load);
void sct_ptx_caches_new(ptx_caches **out, const sct_ptx_cache_sizes *sizes);
/* How many blocks the next wave has, where those of the last left these traces. */
int64_t sct_ptx_caches_wave(const ptx_caches *c, const ptx_trace *traces, int64_t n);
/* Takes the trace of a block from its `from`. A wave whose traces are too long in all is forgotten,
 * and with it the whole launch. */
void sct_ptx_caches_move_trace(ptx_caches *c, ptx_trace *traces, int64_t n, ptx_trace *to,
                               ptx_trace *from);
/* Replays the traces of a wave and frees them. */
void sct_ptx_caches_replay(ptx_caches *c, ptx_trace *traces, int64_t n);
sct_ptx_traffic sct_ptx_caches_free(ptx_caches *c);

/* ---- chains of dependent instructions (ptx_chain.c) */

ptx_links *sct_ptx_links_new(const ptx_code *code);
void sct_ptx_links_free(ptx_links *links); /* accepts NULL */
void sct_ptx_chain_new(ptx_warp *w);
void sct_ptx_chain_free(ptx_warp *w);
void sct_ptx_chain_begin(const ptx_exec *x, ptx_warp *w);
/* A load of so many sectors whose first lane's is that at `address`; `of` NULL: not counted. */
void sct_ptx_chain_load(ptx_exec *x, sct_ptx_buffer_counters *of, uint32_t inst, uint64_t address,
                        int64_t sectors);
/* The warp has executed a basic block; in_kernel: not of a function that it calls. */
void sct_ptx_chain_block(ptx_exec *x, ptx_warp *w, const ptx_block *b, bool in_kernel);
/* Warps of this status meet, at barrier number `barrier` (-1: whichever). */
void sct_ptx_chain_meet(ptx_exec *x, ptx_warp_status status, int barrier);
void sct_ptx_chain_end(ptx_exec *x);

/* ---- counting (ptx_count.c), and by the rules of older devices (ptx_coalesce.c) */

void sct_ptx_count_global(sct_ptx_global *g, const ptx_access *acc);
/* sct_ptx_global.contiguous_bytes of a request, and of one run of bytes; b NULL: all are used. */
int64_t sct_ptx_contiguous(const ptx_buf *b, const ptx_access *acc);
int64_t sct_ptx_contiguous_run(const ptx_buf *b, uint64_t start, int64_t bytes);
/* The buffer of a request, if some of its bytes have no use; else NULL. */
static inline const ptx_buf *ptx_part_used(const ptx_exec *x, uint64_t address) {
  const ptx_buf *b = ptx_memory_window(x->launch->memory, address);
  return b != NULL && b->used != NULL ? b : NULL;
}
void sct_ptx_count_bulk(sct_ptx_global *g, uint64_t address, int64_t bytes); /* bytes >= 1 */
void sct_ptx_count_lines(ptx_exec *x, sct_ptx_buffer_counters *of, const ptx_access *acc);
void sct_ptx_count_shared(sct_ptx_shared *s, const ptx_access *acc);
/* Words of 4 bytes that a load of constant memory asks for, each once. */
int64_t sct_ptx_constant_words(const ptx_access *acc);
/* merges: lanes that update one word share a wavefront; steps: wavefronts for one. */
void sct_ptx_count_shared_atomic(sct_ptx_shared *s, const ptx_access *acc, bool merges, int steps);
void sct_ptx_counters_add(sct_ptx_counters *to, const sct_ptx_counters *from);
void sct_ptx_buffer_counters_add(sct_ptx_buffer_counters *to, const sct_ptx_buffer_counters *from);
int sct_ptx_distinct(const uint64_t *v, int n); /* values in v[0..n); n >= 1 */
/* The addresses of the lanes of `mask`; returns how many. */
int sct_ptx_addresses_of(uint64_t *out, const ptx_access *acc, uint32_t mask);
/* Most distinct words in one of 32 banks among the lanes of `mask`. */
int sct_ptx_bank_wavefronts(const ptx_access *acc, uint32_t mask);

bool sct_ptx_is_load(const ptx_uop *u); /* from memory: no parameter (ptx_live.c) */

const ptx_rules *sct_ptx_rules(sct_ptx_coalescing model); /* NULL: those of ptx_count.c */
void sct_ptx_count_global_by(const ptx_rules *rules, sct_ptx_global *g, const ptx_access *acc);
void sct_ptx_count_shared_by(const ptx_rules *rules, sct_ptx_shared *s, const ptx_access *acc);

/* Keeps one request of each instruction of the launch (ptx_request.c). */
void sct_ptx_keep_request(ptx_exec *x, const ptx_uop *u, sct_ptx_request *to,
                          const ptx_access *acc);
/* Passes a request to the launch's watch. */
void sct_ptx_pass_request(ptx_exec *x, const ptx_uop *u, const ptx_access *acc);
void sct_ptx_pass_bulk(ptx_exec *x, const ptx_uop *u, uint64_t address, int64_t bytes, bool load);
void sct_ptx_merge_requests(sct_ptx_requests *to, const ptx_exec *x);

/* Lanes [first, first + lanes). */
static inline uint32_t ptx_lane_group(int first, int lanes) {
  return (lanes == PTX_LANES ? PTX_ALL : (1u << lanes) - 1) << first;
}

/* The sums of the buffer that `address` lies in; NULL: they are not wanted. */
static inline sct_ptx_buffer_counters *ptx_counts_of(const ptx_exec *x, uint64_t address) {
  const uint64_t k = (address >> PTX_WINDOW_SHIFT) - PTX_WINDOW_FIRST;
  return x->by_buffer != NULL && k < (uint64_t)x->launch->memory->n_buffers ? &x->by_buffer[k]
                                                                            : NULL;
}

static inline void ptx_count_global(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  sct_ptx_global one = {0};
  if (x->launch->rules == NULL) {
    sct_ptx_count_global(&one, acc);
  } else {
    sct_ptx_count_global_by(x->launch->rules, &one, acc);
  }
  if (x->by_buffer != NULL) {
    one.contiguous_bytes =
        sct_ptx_contiguous(ptx_part_used(x, acc->addr[ptx_first_lane(acc->mask)]), acc);
  }
  sct_ptx_global_add(&x->insts[u->inst].global, &one);
  if (x->launch->opts->caches != NULL) {
    sct_ptx_trace_access(&x->trace, acc);
  }
  if (x->requests != NULL) {
    sct_ptx_keep_request(x, u, &x->requests[u->inst].global, acc);
  }
  if (x->launch->opts->watch != NULL) {
    sct_ptx_pass_request(x, u, acc);
  }
  sct_ptx_buffer_counters *of = ptx_counts_of(x, acc->addr[ptx_first_lane(acc->mask)]);
  if (x->is_near != NULL && acc->dir == PTX_READ) {
    sct_ptx_chain_load(x, of, u->inst, acc->addr[ptx_first_lane(acc->mask)], one.sectors);
  }
  if (of != NULL) {
    sct_ptx_global_add(acc->dir == PTX_ATOMIC ? &of->atomics
                       : acc->dir == PTX_READ ? &of->load
                                              : &of->store,
                       &one);
    if (acc->dir == PTX_ATOMIC) {
      sct_ptx_count_lines(x, of, acc);
    }
  }
}

static inline void ptx_keep_shared(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  if (x->requests != NULL) {
    sct_ptx_keep_request(x, u, &x->requests[u->inst].shared, acc);
  }
}

static inline void ptx_count_shared(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  sct_ptx_shared *s = &x->insts[u->inst].shared;
  if (x->launch->rules == NULL) {
    sct_ptx_count_shared(s, acc);
  } else {
    sct_ptx_count_shared_by(x->launch->rules, s, acc);
  }
  ptx_keep_shared(x, u, acc);
}

/* ---- races (ptx_race.c): after a read, before a write that changes the lanes of `changed` */

bool sct_ptx_race(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                  uint32_t changed);

/* Races among the lanes of a warp in shared memory (ptx_race_warp.c). A store of the lanes in
 * `counts` is one for those that read; one that changes nothing is none for other writers. */
bool sct_ptx_race_warp(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                       uint32_t changed, uint32_t counts);

/* What the lanes of `w` did before and what they do from here on is ordered. */
static inline void ptx_sync_lanes(ptx_exec *x, ptx_warp *w) {
  w->sync = ++x->n_syncs;
}

static inline ptx_mem_scope ptx_scope_of(const ptx_uop *u) {
  return (ptx_mem_scope)(u->op >> PTX_MEM_SCOPE_SHIFT);
}

static inline bool ptx_is_race(sct_ptx_kind kind) {
  return kind == SCT_PTX_SHARED_RACE || kind == SCT_PTX_GLOBAL_RACE || kind == SCT_PTX_WARP_RACE;
}

/* ---- findings, and what came before them (ptx_findings.c) */

ptx_findings *sct_ptx_findings_new(int most); /* NULL if that is 0 */
void sct_ptx_findings_add(ptx_findings *f, const sct_ptx_diag *d);
void sct_ptx_findings_end(sct_ptx_result *out, ptx_findings *f); /* frees it; accepts NULL */
/* After an access, with findings: remembers its instruction. */
void sct_ptx_touch(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                   const ptx_part *part);
/* A load brings undefined values to the lanes of a slot; what is computed from them is, too. */
void sct_ptx_origin_set(ptx_exec *x, const ptx_uop *u, uint32_t slot, uint32_t lanes);
void sct_ptx_origin_pass(ptx_exec *x, const ptx_uop *u, uint32_t lanes);
/* Of the next diagnosis. t NULL: not known. */
void sct_ptx_before_race(ptx_exec *x, const ptx_part *part, const ptx_touch *t, bool wrote);
void sct_ptx_before_undefined(ptx_exec *x, uint32_t slot, int lane);

/* ---- order by flags and fences (ptx_sync.c) */

/* An atomic or strong access to a flag; with races looked for only. */
void sct_ptx_sync_access(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                         const ptx_part *part);
/* Whether the current warp has acquired what `warp` of its block did; PTX_LANES or more: what all
 * its other warps did. */
bool sct_ptx_synced(const ptx_exec *x, unsigned warp);

/* ---- order between blocks by flags and fences (ptx_blocks.c); with races looked for only */

ptx_order *sct_ptx_order_new(const ptx_launch *l);
void sct_ptx_order_free(ptx_order *order);
void sct_ptx_order_begin_block(ptx_exec *x); /* gives it its number */
/* The launch's first warning. */
sct_ptx_diag *sct_ptx_order_warning(ptx_order *order);
/* The index of the block with this number. */
int64_t sct_ptx_order_index(const ptx_order *order, uint32_t number);
/* A fence that releases; an access to a flag. */
void sct_ptx_order_fence(ptx_exec *x, ptx_mem_scope scope);
void sct_ptx_order_access(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                          const ptx_part *part);
/* A barrier of the block, or of its cluster: what its warps have covered and read, all have. */
void sct_ptx_order_barrier(ptx_exec *x);
void sct_ptx_order_cluster(ptx_cluster *c);
/* Whether the current warp comes after what `warp` of the block with this number did in `epoch`;
 * PTX_LANES or more: several of its warps. */
bool sct_ptx_order_after(const ptx_exec *x, uint32_t number, unsigned warp, uint32_t epoch);
/* Whether it comes after any other block. */
bool sct_ptx_order_after_any(const ptx_exec *x);
/* Keeps the launch's first warning: described as sct_ptx_fault() does. */
void sct_ptx_warn(const ptx_exec *x, const ptx_uop *u, sct_ptx_kind kind, int lane,
                  uint64_t address, const char *fmt, ...) SCT_PRINTF(6, 7);

/* log2 of the bytes of a granule, from the narrowest access of a kernel */
int sct_ptx_granule_shift(int min_bytes);
size_t sct_ptx_shared_granules(const ptx_exec *x); /* of all shared arrays, and one more */

/* Bytes of shared memory that a copy has brought, by what a ptx_clock calls `who`. */
void sct_ptx_race_deliver(ptx_exec *x, int64_t address, int64_t bytes, unsigned who,
                          uint32_t epoch);
/* First shared address of the range that warp *writer wrote and that no proxy fence has covered on
 * the way to this warp; -1: none. */
int64_t sct_ptx_race_unfenced(const ptx_exec *x, int64_t address, int64_t bytes, int *writer);
void sct_ptx_clock_join(ptx_clock *to, const ptx_clock *from);
/* A block begins: epochs stay within what an access record can hold. */
void sct_ptx_clock_begin_block(ptx_exec *x);
/* A barrier of the block: what came before it is ordered. */
void sct_ptx_clock_barrier(ptx_exec *x);
/* A barrier of some of its warps: `w` comes to it, and does not wait (bar.arrive) or leaves it. */
void sct_ptx_clock_arrive(ptx_exec *x, ptx_clock *barrier, ptx_warp *w, bool goes_on);
void sct_ptx_clock_leave(ptx_exec *x, const ptx_clock *barrier, ptx_warp *w);

/* ---- mbarriers (ptx_mbarrier.c) */

/* The live mbarrier at the address of `lane`, checked; NULL: fault. */
ptx_mbar *sct_ptx_mbar_at(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address, bool generic);
/* Counts `bytes` that a copy has brought as arrived at the mbarrier; false: fault. */
bool sct_ptx_mbar_complete(ptx_exec *x, const ptx_uop *u, int lane, ptx_mbar *b, int64_t bytes);
/* Whether every warp that could run waits for an mbarrier that nothing changes any more. */
bool sct_ptx_mbar_all_idle(const ptx_exec *x);
void sct_ptx_mbar_fault_stuck(ptx_exec *x);

/* ---- bulk copies (ptx_bulk.c) */

void sct_ptx_bulk_clear(ptx_exec *x);
/* Copies that report to mbarrier `k` end now; false: fault. */
bool sct_ptx_bulk_finish(ptx_exec *x, int k);
/* Bytes of the phases that are over reach shared memory. */
void sct_ptx_bulk_deliver(ptx_exec *x, int k);
/* Whether the bytes are the source of a bulk store that may still read them. */
bool sct_ptx_bulk_reads(const ptx_exec *x, int64_t address, int bytes);
/* Whether bytes of a buffer are the destination of a bulk store that is still on its way. */
bool sct_ptx_bulk_writes(const ptx_exec *x, const ptx_buf *buf, int64_t offset, int bytes);
/* The block ends: nothing may be on its way from or to its shared memory. */
void sct_ptx_bulk_end(ptx_exec *x);

/* ---- asynchronous copies (ptx_async.c) */

/* Whether bytes at a shared address are the destination of a copy that is still on its way. */
bool sct_ptx_async_pending(const ptx_exec *x, int64_t address, int64_t bytes);
/* Copies that report to mbarrier `k` in a phase that is over reach shared memory. */
void sct_ptx_async_deliver(ptx_exec *x, int k);

/* ---- running (ptx_run.c) */

/* Runs a block that has begun until it ends, or its warps wait for other blocks. */
void sct_ptx_run_block(ptx_exec *x);

/* ---- clusters (ptx_cluster.c) */

/* Runs the cluster of a block, whose executor is the first one; or, where there are several
 * clusters, those of the whole grid at once. */
void sct_ptx_run_clusters(ptx_cluster *c, int n, int64_t block_index);
void sct_ptx_cluster_barrier(ptx_exec *x, const ptx_uop *u);
bool sct_ptx_is_peers(const ptx_exec *x, uint64_t address); /* of another block's shared memory */
bool sct_ptx_cluster_address(uint64_t address);             /* is it one that mapa gave */
/* The block in whose shared memory the address of `lane` lies, and what to take from it for an
 * address of its own; NULL: fault, or no block's. */
ptx_exec *sct_ptx_cluster_peer(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, int lane,
                               uint64_t *origin);

/* ---- state of a host thread (ptx_block.c) */

/* with: another one of its host thread, whose counters it shares; NULL: none. */
void sct_ptx_exec_init(ptx_exec *x, const ptx_launch *l, ptx_cluster *cluster,
                       const ptx_exec *with);
void sct_ptx_exec_free(ptx_exec *x);
void sct_ptx_block_begin(ptx_exec *x, int64_t block_index);
/* all: else only those that change from block to block */
/* Does a special register differ between blocks, or launches of other grids? */
bool sct_ptx_sreg_changes(int sreg);
void sct_ptx_fill_sregs(ptx_exec *x, ptx_warp *w, int body, size_t slot_base, bool all);
void sct_ptx_fill_consts(ptx_exec *x, ptx_warp *w, int body, size_t slot_base);
void sct_ptx_clear_state(ptx_exec *x, ptx_warp *w, int body, size_t slot_base);

/* ---- calls (ptx_call.c) */

int64_t sct_ptx_local_bytes(const ptx_code *code); /* of one lane */
void sct_ptx_call(ptx_exec *x, const ptx_uop *u, uint32_t mask);
void sct_ptx_return(ptx_exec *x);
/* Where the parameters of calls stand in local memory. */
int64_t sct_ptx_call_area(const ptx_exec *x, const ptx_frame *f);
void sct_ptx_clear_locals(const ptx_code *code, ptx_warp *w, bool definedness);

/* ---- functions of the system (ptx_system.c), the heap (ptx_heap.c) */

/* What the blocks of a launch print, which run on one host thread then. */
typedef struct ptx_printed {
  sct_str text;
  int64_t dropped; /* calls whose text is left out, as there is too much */
} ptx_printed;

/* The heap of a launch whose kernel calls functions of the system; NULL: no room. */
bool sct_ptx_heap_new(sct_ptx_memory *memory, int64_t limit);
/* Address of so many bytes for one thread, 0: no room for them. */
uint64_t sct_ptx_heap_take(ptx_exec *x, uint64_t bytes, uint64_t align);
/* false: fault. */
bool sct_ptx_heap_give(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address);
/* Whether the bytes belong to one live allocation. */
bool sct_ptx_heap_holds(const sct_ptx_memory *memory, uint64_t address, int bytes);
void sct_ptx_heap_fault(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, int lane);

/* ---- barriers (ptx_barrier.c), warp operations (ptx_warpops.c) */

void sct_ptx_barrier(ptx_exec *x, const ptx_uop *u, uint32_t mask);
void sct_ptx_barrier_fault_stuck(ptx_exec *x);

/* ---- micro-operations */

#define PTX_ALU(op, sub, types, fn, sig, attrs, undef)                                             \
  void sct_ptx_op_##fn(ptx_exec *x, const ptx_uop *u);
#include "ptx/decode/ptx_alu.def"
#undef PTX_ALU
#define PTX_FN(name) void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u);
#include "ptx/decode/ptx_fns.def"
#undef PTX_FN

#endif
