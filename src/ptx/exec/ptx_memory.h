/* Buffers as the executor sees them. */
#ifndef SCT_PTX_MEMORY_H
#define SCT_PTX_MEMORY_H

#include "ptx/decode/ptx_code.h"

/* Records of the last write and the last read of a granule: see ptx_race.c. */
typedef struct ptx_last_access {
  uint64_t write, read;
} ptx_last_access;

/* Which lanes of a warp wrote and read a granule since the warp's synchronisation of that number:
 * see ptx_race_warp.c. */
typedef struct ptx_lanes {
  uint32_t write_sync, written_by;
  uint32_t read_sync, read_by;
} ptx_lanes;

/* The instructions that read [0] and wrote [1] a granule last, their numbers plus 1 (0: none), and
 * who executed them: see ptx_findings.c. */
typedef struct ptx_touch {
  uint32_t inst[2];
  uint8_t warp[2], lane[2];
} ptx_touch;

typedef struct ptx_buf {
  uint64_t base;
  int64_t bytes;
  uint8_t *host;
  uint8_t *defined;             /* a byte a byte: its bits that are defined; NULL: all of them */
  const uint8_t *required;      /* a byte a byte; NULL: all. With `fill` not the buffer's own */
  ptx_last_access *last_access; /* a launch with race checks; NULL: read-only or not wanted */
  size_t access_bytes;          /* of these records */
  ptx_touch *touches;           /* as many, of a launch with findings; sparse */
  size_t touch_bytes;
  char *name;
  bool read_only, output;
  bool in_pieces; /* variables, allocations: not all of its bytes belong to something */
  void (*fill)(void *ctx, uint8_t *out, int64_t offset, int64_t bytes); /* NULL: all is there */
  void *fill_ctx;
  int64_t (*used)(const void *ctx, int64_t offset, int64_t bytes); /* NULL: all bytes are */
  const void *used_ctx;
  uint8_t *filled; /* [chunks] with `fill`: these are there; `host` is sparse */
  int64_t n_filled;
  uint64_t keep;  /* bits of an offset that count: all, or those below `fold` */
  uint8_t *fresh; /* [keep + 1] of a folded buffer that may be written: what blocks find; or NULL */
  sct_ptx_buffer_counters counts;
  bool has_undefined; /* its contents were given, and an undefined value was stored since */
} ptx_buf;

typedef struct ptx_heap ptx_heap; /* ptx_heap.c */

struct sct_ptx_memory {
  ptx_buf *table[PTX_N_WINDOWS]; /* by address >> PTX_WINDOW_SHIFT */
  int n_buffers;
  ptx_heap *heap; /* what table[PTX_WINDOW_HEAP] holds; NULL: no kernel has asked for memory */
};

#define PTX_FOLD_MORE   (1 << 20) /* bytes after a fold's last, for accesses that cross its end */
#define PTX_CHUNK_SHIFT 12        /* of bytes that are filled at a time */
#define PTX_CHUNK       (INT64_C(1) << PTX_CHUNK_SHIFT)
/* Fills what is missing of bytes [from, from + bytes) of a buffer with `fill`. */
void sct_ptx_buf_fill(ptx_buf *b, int64_t from, int64_t bytes);

/* Begins to track which bytes of a buffer are defined, before an undefined value is stored to it;
 * false: its bytes cannot be tracked. */
bool sct_ptx_buf_track_undefined(ptx_buf *b);

/* Offset of the first byte of [from, to) that is required and undefined; -1: none. */
int64_t sct_ptx_buf_undefined(const ptx_buf *b, int64_t from, int64_t to);

/* Puts back what folded buffers held. */
void sct_ptx_memory_refresh(sct_ptx_memory *m);

/* The buffer whose window holds `address`; NULL: none. */
static inline ptx_buf *ptx_memory_window(const sct_ptx_memory *m, uint64_t address) {
  const uint64_t k = address >> PTX_WINDOW_SHIFT;
  return k < PTX_N_WINDOWS ? m->table[k] : NULL;
}

/* The module's variables as a buffer, initialised. */
ptx_buf *sct_ptx_vars_new(const sct_ptx_module *module, const ptx_code *code);
/* What the blocks of a cooperative grid synchronise by. */
ptx_buf *sct_ptx_grid_buf_new(void);
void sct_ptx_buf_free(ptx_buf *buf);
void sct_ptx_heap_free(ptx_heap *heap); /* accepts NULL */
sct_ptx_heap sct_ptx_heap_of(const sct_ptx_memory *memory);
/* Contents of which only what is touched takes memory. */
static inline bool ptx_is_sparse(const ptx_buf *b) {
  return b->fill != NULL || b->base == PTX_WINDOW(PTX_WINDOW_HEAP);
}

#endif
