/* The real GPU behind the worker's table: the driver for memory and candidates, the worker's own
 * kernels (worker_kernels.c) for fill, checksum, comparison, spans and copy. */
#include "worker_backend.h"

#include <string.h>

#define BLOCK_THREADS 256
#define PIECE_BYTES   ((int64_t)1 << 19) /* of a region: what a block adds up */
#define ROW_BYTES     ((int64_t)1 << 12) /* of a span: what a block copies */

/* What a block of sct_checksum adds up. */
typedef struct piece {
  uint64_t base, lo, hi, sum;
} piece;

/* What a block of sct_spread copies: between offsets. */
typedef struct row {
  int64_t to, from, bytes;
} row;

typedef struct cuda_backend {
  sct_backend base;
  sct_cuda *cuda;
  sct_cuda_kernel fill, checksum, compare, spread, settle, index, copy16, evict_loads, evict_stores,
      hold, stamp, empty;
  volatile uint64_t *mailbox; /* seen by the device too: ticket, then two stamps of (ns, cycles) */
  sct_cuda_ptr mailbox_device;
  uint64_t ticket; /* of the current unit */
  int stamp_blocks;
  sct_cuda_ptr scratch; /* results of checksum and comparison */
  int scratch_words;
  sct_cuda_ptr packed; /* rows of sct_spread and the bytes that they spread */
  int64_t packed_bytes;
  piece *pieces; /* as they were sent last, to pieces_device */
  sct_cuda_ptr pieces_device;
  size_t n_pieces, cap_pieces, room; /* room: of pieces_device */
  int64_t max_blocks;                /* of our own kernels: enough to fill the device */
  int64_t watched_ns;                /* when NVML was asked last */
  uint64_t reasons;                  /* and its answer */
  int64_t looked_ns;                 /* when it was asked for other processes last */
  int n_newcomers;                   /* and its answer */
  sct_gpu_process newcomer;
} cuda_backend;

static cuda_backend *self(sct_backend *b) {
  return (cuda_backend *)b;
}

static void cuda_close(sct_backend *b) {
  cuda_backend *c = self(b);
  if (c->cuda) {
    sct_cuda_kernel *const own[] = {&c->fill,         &c->checksum, &c->compare, &c->spread,
                                    &c->settle,       &c->index,    &c->copy16,  &c->evict_loads,
                                    &c->evict_stores, &c->hold,     &c->stamp,   &c->empty};
    sct_cuda_release(c->cuda, c->scratch);
    sct_cuda_release(c->cuda, c->packed);
    sct_cuda_release(c->cuda, c->pieces_device);
    sct_cuda_host_free(c->cuda, (void *)c->mailbox);
    for (int k = 0; k < SCT_COUNT(own); k++) {
      sct_cuda_unload(c->cuda, own[k]);
    }
    sct_cuda_close(c->cuda);
  }
  sct_free(c->pieces);
  sct_free(c);
}

static int cuda_last(sct_backend *b) {
  return sct_cuda_last(self(b)->cuda);
}

static sct_status cuda_alloc(sct_backend *b, sct_cuda_ptr *out, int64_t bytes, sct_error *err) {
  return sct_cuda_alloc(self(b)->cuda, out, bytes, err);
}

static void cuda_release(sct_backend *b, sct_cuda_ptr p) {
  sct_cuda_release(self(b)->cuda, p);
}

static sct_status cuda_upload(sct_backend *b, sct_cuda_ptr to, const void *from, int64_t bytes,
                              sct_error *err) {
  return sct_cuda_upload(self(b)->cuda, to, from, bytes, err);
}

static sct_status cuda_download(sct_backend *b, void *to, sct_cuda_ptr from, int64_t bytes,
                                sct_error *err) {
  return sct_cuda_download(self(b)->cuda, to, from, bytes, err);
}

static sct_status cuda_set(sct_backend *b, sct_cuda_ptr p, uint8_t byte, int64_t bytes,
                           sct_error *err) {
  return sct_cuda_set(self(b)->cuda, p, byte, bytes, err);
}

/* The rows of the spans, of which the packed side is contiguous. The caller frees them. */
static row *rows_of(const sct_span *spans, int64_t n, bool gathers, int64_t *n_rows,
                    int64_t *bytes) {
  row *rows = NULL;
  size_t count = 0, cap = 0;
  *bytes = 0;
  for (int64_t k = 0; k < n; k++) {
    for (int64_t at = spans[k].from; at < spans[k].to; at += ROW_BYTES) {
      const int64_t left = spans[k].to - at, each = left < ROW_BYTES ? left : ROW_BYTES;
      SCT_GROW(rows, count, cap);
      rows[count++] = gathers ? (row){*bytes, at, each} : (row){at, *bytes, each};
      *bytes += each;
    }
  }
  *n_rows = (int64_t)count;
  return rows;
}

/* Sends the rows, and room for the bytes after them at *data; nothing is to be done where there are
 * no rows. */
static sct_status send_rows(cuda_backend *c, const row *rows, int64_t n_rows, int64_t bytes,
                            sct_cuda_ptr *data, sct_error *err) {
  const int64_t row_bytes = n_rows * (int64_t)sizeof *rows;
  if (row_bytes + bytes > c->packed_bytes) {
    sct_cuda_release(c->cuda, c->packed);
    c->packed = 0;
    c->packed_bytes = 0;
    SCT_TRY(sct_cuda_alloc(c->cuda, &c->packed, 2 * (row_bytes + bytes), err));
    c->packed_bytes = 2 * (row_bytes + bytes);
  }
  *data = c->packed + (uint64_t)row_bytes;
  return sct_cuda_upload(c->cuda, c->packed, rows, row_bytes, err);
}

static sct_status spread(cuda_backend *c, sct_cuda_ptr to, sct_cuda_ptr from, int64_t n_rows,
                         sct_error *err) {
  void *args[] = {&to, &from, &c->packed};
  return n_rows == 0 ? SCT_OK
                     : sct_cuda_launch(c->cuda, &c->spread, n_rows, BLOCK_THREADS, 0, args, err);
}

static sct_status cuda_scatter(sct_backend *b, sct_cuda_ptr p, const sct_span *spans, int64_t n,
                               const uint8_t *data, sct_error *err) {
  cuda_backend *c = self(b);
  int64_t n_rows = 0, bytes = 0;
  sct_cuda_ptr packed = 0;
  SCT_OWNED row *rows = rows_of(spans, n, false, &n_rows, &bytes);
  SCT_TRY(send_rows(c, rows, n_rows, bytes, &packed, err));
  SCT_TRY(sct_cuda_upload(c->cuda, packed, data, bytes, err));
  SCT_TRY(spread(c, p, packed, n_rows, err));
  return sct_cuda_sync(c->cuda, err);
}

static sct_status cuda_gather(sct_backend *b, uint8_t *data, sct_cuda_ptr p, const sct_span *spans,
                              int64_t n, sct_error *err) {
  cuda_backend *c = self(b);
  int64_t n_rows = 0, bytes = 0;
  sct_cuda_ptr packed = 0;
  SCT_OWNED row *rows = rows_of(spans, n, true, &n_rows, &bytes);
  SCT_TRY(send_rows(c, rows, n_rows, bytes, &packed, err));
  SCT_TRY(spread(c, packed, p, n_rows, err));
  return sct_cuda_download(c->cuda, data, packed, bytes, err);
}

static int64_t blocks_for(const cuda_backend *c, int64_t words) {
  const int64_t blocks = (words + BLOCK_THREADS - 1) / BLOCK_THREADS;
  return blocks < c->max_blocks ? blocks : c->max_blocks;
}

static sct_status cuda_copy(sct_backend *b, int variant, sct_cuda_ptr to, sct_cuda_ptr from,
                            int64_t bytes, sct_error *err) {
  cuda_backend *c = self(b);
  if (variant == 0) {
    return sct_cuda_copy(c->cuda, to, from, bytes, err);
  }
  const sct_cuda_kernel *const own[] = {&c->copy16, &c->evict_loads, &c->evict_stores};
  int64_t words = bytes / 16;
  void *args[] = {&from, &to, &words};
  return words == 0 ? SCT_OK
                    : sct_cuda_launch(c->cuda, own[variant - 1],
                                      (words + BLOCK_THREADS - 1) / BLOCK_THREADS, BLOCK_THREADS, 0,
                                      args, err);
}

static sct_status cuda_load(sct_backend *b, sct_cuda_kernel *out, const void *image,
                            const char *entry, int64_t shared_bytes, int64_t serial,
                            sct_error *err) {
  (void)serial;
  return sct_cuda_load(self(b)->cuda, out, image, entry, shared_bytes, err);
}

static void cuda_unload(sct_backend *b, sct_cuda_kernel *kernel) {
  sct_cuda_unload(self(b)->cuda, kernel);
}

sct_status sct_gpu_launch(sct_cuda *cuda, const sct_cuda_kernel *kernel, const sct_launch *launch,
                          sct_error *err) {
  uint64_t values[SCT_MAX_ARGS][2];
  void *args[SCT_MAX_ARGS];
  for (int k = 0; k < launch->n_args; k++) {
    memcpy(values[k], launch->args[k].value, sizeof values[k]);
    args[k] = values[k];
  }
  sct_status status = SCT_OK;
  for (int pass = 0; pass < launch->passes || pass == 0; pass++) {
    if (launch->passes > 0) {
      memcpy(values[launch->n_args - 1], &pass, sizeof pass);
    }
    SCT_THEN(sct_cuda_launch_3d(cuda, kernel, launch->grid, launch->block, launch->shared_bytes,
                                args, err));
  }
  return status;
}

static sct_status cuda_launch(sct_backend *b, const sct_cuda_kernel *kernel,
                              const sct_launch *launch, sct_error *err) {
  return sct_gpu_launch(self(b)->cuda, kernel, launch, err);
}

static sct_status cuda_sync(sct_backend *b, sct_error *err) {
  return sct_cuda_sync(self(b)->cuda, err);
}

static sct_status cuda_timer_start(sct_backend *b, sct_error *err) {
  return sct_cuda_timer_start(self(b)->cuda, err);
}

static sct_status cuda_timer_stop(sct_backend *b, double *ns, sct_error *err) {
  return sct_cuda_timer_stop(self(b)->cuda, ns, err);
}

/* ---- units ---- */

#define STAMP_WORDS 2

static sct_status stamp(cuda_backend *c, int which, sct_error *err) {
  sct_cuda_ptr out = c->mailbox_device + (uint64_t)(1 + which * STAMP_WORDS) * 8;
  void *args[] = {&out};
  return sct_cuda_launch(c->cuda, &c->stamp, c->stamp_blocks, 1, 0, args, err);
}

static void cuda_reset_persisting_l2(sct_backend *b) {
  sct_cuda_reset_persisting_l2(self(b)->cuda);
}

static sct_status cuda_unit_begin(sct_backend *b, sct_error *err) {
  cuda_backend *c = self(b);
  c->ticket++;
  for (int k = 0; k < 2 * STAMP_WORDS; k++) {
    c->mailbox[1 + k] = 0;
  }
  void *args[] = {&c->mailbox_device, &c->ticket};
  SCT_TRY(sct_cuda_launch(c->cuda, &c->hold, 1, 1, 0, args, err));
  SCT_TRY(stamp(c, 0, err));
  return sct_cuda_timer_start(c->cuda, err);
}

/* Cycles by nanoseconds between the stamps; 0 if no block of one of them ran on SM 0. */
static double stamped_mhz(const cuda_backend *c) {
  const volatile uint64_t *first = c->mailbox + 1, *second = first + STAMP_WORDS;
  return first[0] != 0 && second[0] > first[0]
             ? (double)(second[1] - first[1]) * 1e3 / (double)(second[0] - first[0])
             : 0.0;
}

static sct_status cuda_unit_end(sct_backend *b, double *ns, double *mhz, sct_error *err) {
  cuda_backend *c = self(b);
  sct_status status = sct_cuda_timer_mark(c->cuda, err);
  SCT_THEN(stamp(c, 1, err));
  __atomic_store_n(c->mailbox, c->ticket, __ATOMIC_RELEASE); /* whatever happened: let it run */
  SCT_TRY(status);
  SCT_TRY(sct_cuda_timer_read(c->cuda, ns, err));
  SCT_TRY(sct_cuda_sync(c->cuda, err));
  *mhz = stamped_mhz(c);
  return SCT_OK;
}

static sct_status cuda_launch_empty(sct_backend *b, sct_error *err) {
  void *none[1] = {NULL};
  return sct_cuda_launch(self(b)->cuda, &self(b)->empty, 1, 32, 0, none, err);
}

/* NVML takes longer to answer than a unit lasts, and its answer changes slowly. */
#define WATCH_EVERY_NS ((int64_t)20000000)

static sct_status cuda_check_health(sct_backend *b, uint64_t *reasons, sct_error *err) {
  cuda_backend *c = self(b);
  const int64_t now = sct_now_ns();
  if (now - c->watched_ns >= WATCH_EVERY_NS) {
    SCT_TRY(sct_cuda_check_health(c->cuda, &c->reasons, err));
    c->watched_ns = now;
  }
  *reasons = c->reasons;
  return SCT_OK;
}

/* Listing processes costs NVML a millisecond or more. */
#define LOOK_EVERY_NS ((int64_t)2000000000)

static int cuda_newcomers(sct_backend *b, sct_gpu_process *first) {
  cuda_backend *c = self(b);
  const int64_t now = sct_now_ns();
  if (c->looked_ns == 0 || now - c->looked_ns >= LOOK_EVERY_NS) {
    c->n_newcomers = sct_cuda_newcomers(c->cuda, &c->newcomer);
    c->looked_ns = now;
  }
  *first = c->newcomer;
  return c->n_newcomers;
}

static sct_status cuda_fill(sct_backend *b, sct_cuda_ptr p, int64_t words, uint64_t and_mask,
                            uint64_t or_mask, uint64_t seed, sct_error *err) {
  cuda_backend *c = self(b);
  if (words == 0) {
    return SCT_OK;
  }
  void *args[] = {&p, &words, &and_mask, &or_mask, &seed};
  SCT_TRY(sct_cuda_launch(c->cuda, &c->fill, blocks_for(c, words), BLOCK_THREADS, 0, args, err));
  return sct_cuda_sync(c->cuda, err);
}

/* Room for n 8-byte results on the device. */
static sct_status need_scratch(cuda_backend *c, int n, sct_error *err) {
  if (n <= c->scratch_words) {
    return SCT_OK;
  }
  sct_cuda_release(c->cuda, c->scratch);
  c->scratch = 0;
  c->scratch_words = 0;
  SCT_TRY(sct_cuda_alloc(c->cuda, &c->scratch, (int64_t)n * 8, err));
  c->scratch_words = n;
  return SCT_OK;
}

/* The regions cut into pieces. Sums are added up in scratch. */
static void cut(cuda_backend *c, const sct_region *regions, int n, bool *changed) {
  size_t count = 0;
  *changed = false;
  for (int k = 0; k < n; k++) {
    for (int64_t lo = regions[k].lo; lo < regions[k].hi;) {
      const int64_t end = (lo / PIECE_BYTES + 1) * PIECE_BYTES;
      const piece each = {.base = regions[k].base,
                          .lo = (uint64_t)lo,
                          .hi = (uint64_t)(end < regions[k].hi ? end : regions[k].hi),
                          .sum = c->scratch + (uint64_t)k * 8};
      SCT_GROW(c->pieces, count, c->cap_pieces);
      *changed =
          *changed || count >= c->n_pieces || memcmp(&c->pieces[count], &each, sizeof each) != 0;
      c->pieces[count++] = each;
      lo = end;
    }
  }
  c->n_pieces = count;
}

static sct_status send_pieces(cuda_backend *c, sct_error *err) {
  const int64_t bytes = (int64_t)(c->n_pieces * sizeof *c->pieces);
  if (c->n_pieces > c->room) {
    sct_cuda_release(c->cuda, c->pieces_device);
    c->pieces_device = 0;
    c->room = 0;
    SCT_TRY(sct_cuda_alloc(c->cuda, &c->pieces_device, 2 * bytes, err));
    c->room = 2 * c->n_pieces;
  }
  return sct_cuda_upload(c->cuda, c->pieces_device, c->pieces, bytes, err);
}

/* All regions in one launch: there are hundreds of small ones for one large one. */
static sct_status cuda_checksum(sct_backend *b, const sct_region *regions, int n, uint64_t *sums,
                                sct_error *err) {
  cuda_backend *c = self(b);
  bool changed = false;
  SCT_TRY(need_scratch(c, n, err));
  cut(c, regions, n, &changed);
  if (changed) {
    const sct_status sent = send_pieces(c, err);
    c->n_pieces = sent == SCT_OK ? c->n_pieces : 0;
    SCT_TRY(sent);
  }
  SCT_TRY(sct_cuda_set(c->cuda, c->scratch, 0, (int64_t)n * 8, err));
  if (c->n_pieces > 0) {
    void *args[] = {&c->pieces_device};
    SCT_TRY(
        sct_cuda_launch(c->cuda, &c->checksum, (int64_t)c->n_pieces, BLOCK_THREADS, 0, args, err));
  }
  return sct_cuda_download(c->cuda, sums, c->scratch, (int64_t)n * 8, err);
}

static sct_status cuda_compare(sct_backend *b, sct_cuda_ptr a, sct_cuda_ptr ref, sct_cuda_ptr ref2,
                               int64_t bytes, int64_t *n_differ, int64_t *first, sct_error *err) {
  cuda_backend *c = self(b);
  int64_t result[2] = {0, -1}; /* -1: the largest value for the kernel's unsigned minimum */
  SCT_TRY(need_scratch(c, 2, err));
  SCT_TRY(sct_cuda_set(c->cuda, c->scratch, 0, 8, err));
  SCT_TRY(sct_cuda_set(c->cuda, c->scratch + 8, 0xff, 8, err));
  if (bytes > 0) {
    void *args[] = {&a, &ref, &ref2, &bytes, &c->scratch};
    SCT_TRY(sct_cuda_launch(c->cuda, &c->compare, blocks_for(c, (bytes + 7) / 8), BLOCK_THREADS, 0,
                            args, err));
  }
  SCT_TRY(sct_cuda_download(c->cuda, result, c->scratch, sizeof result, err));
  *n_differ = result[0];
  *first = result[1];
  return SCT_OK;
}

static sct_status cuda_index(sct_backend *b, sct_cuda_ptr p, const sct_places *at,
                             const sct_index_values *values, sct_error *err) {
  cuda_backend *c = self(b);
  sct_places places = *at;
  sct_index_values how = *values;
  if (at->count == 0) {
    return SCT_OK;
  }
  void *args[] = {&p, &places, &how};
  SCT_TRY(
      sct_cuda_launch(c->cuda, &c->index, blocks_for(c, at->count), BLOCK_THREADS, 0, args, err));
  return sct_cuda_sync(c->cuda, err);
}

static sct_status cuda_settle(sct_backend *b, sct_cuda_ptr a, sct_cuda_ptr ref,
                              const sct_places *at, const sct_nearness *how, int64_t *n_wrong,
                              sct_error *err) {
  cuda_backend *c = self(b);
  sct_places places = *at;
  sct_nearness near = *how;
  SCT_TRY(need_scratch(c, 1, err));
  SCT_TRY(sct_cuda_set(c->cuda, c->scratch, 0, 8, err));
  if (at->count > 0) {
    void *args[] = {&a, &ref, &places, &near, &c->scratch};
    SCT_TRY(sct_cuda_launch(c->cuda, &c->settle, blocks_for(c, at->count), BLOCK_THREADS, 0, args,
                            err));
  }
  return sct_cuda_download(c->cuda, n_wrong, c->scratch, sizeof *n_wrong, err);
}

/* ---- transfers ---- */

static sct_status cuda_make_current(sct_backend *b, sct_error *err) {
  return sct_cuda_make_current(self(b)->cuda, err);
}

static sct_status cuda_block_open(sct_backend *b, sct_backend *peer, sct_host_block *out,
                                  sct_host_kind kind, int64_t bytes, sct_error *err) {
  return peer ? sct_cuda_peer_open(self(b)->cuda, self(peer)->cuda, out, kind, bytes, err)
              : sct_cuda_block_open(self(b)->cuda, out, kind, bytes, err);
}

static void cuda_block_close(sct_backend *b, sct_backend *peer, sct_host_block *block) {
  if (peer) {
    sct_cuda_peer_close(self(b)->cuda, self(peer)->cuda, block);
  } else {
    sct_cuda_block_close(self(b)->cuda, block);
  }
}

/* Kernels copy mapped memory in slices, so that both ways share the SMs. */
#define SLICE_BYTES ((int64_t)1 << 22)

static sct_status queue_slice(cuda_backend *c, const sct_transfer *t, int k, int64_t at,
                              sct_error *err) {
  const int64_t left = t->bytes - at;
  const uint64_t host = t->block[k].alias + (uint64_t)at, device = t->device[k] + (uint64_t)at;
  return cuda_copy(&c->base, 1, k == 0 ? device : host, k == 0 ? host : device,
                   left < SLICE_BYTES ? left : SLICE_BYTES, err);
}

/* On a stream of the device that it comes from. */
static sct_status queue_peer(cuda_backend *c, const sct_transfer *t, int k, sct_error *err) {
  sct_cuda *peer = self(t->peer)->cuda;
  return k == 0 ? sct_cuda_peer_copy(peer, t->block[k].alias, c->cuda, t->device[k], t->bytes, err)
                : sct_cuda_peer_copy(c->cuda, t->device[k], peer, t->block[k].alias, t->bytes, err);
}

/* Queues what goes each way on a stream of its own; `back`: the opposite way. */
static sct_status queue_ways(cuda_backend *c, const sct_transfer *t, bool back, sct_error *err) {
  const bool mapped = t->block[0].kind == SCT_HOST_MAPPED;
  const int64_t step = mapped ? SLICE_BYTES : t->bytes;
  for (int64_t at = 0; at < t->bytes; at += step) {
    for (int k = 0; k < 2; k++) {
      if (((int)t->way & 1 << k) == 0) {
        continue;
      }
      SCT_TRY(sct_cuda_use_stream(c->cuda, k, err));
      SCT_TRY(mapped    ? queue_slice(c, t, k, at, err)
              : t->peer ? queue_peer(c, t, k, err)
                        : sct_cuda_block_copy(c->cuda, &t->block[k], (k == 0) != back, t->device[k],
                                              t->bytes, err));
    }
  }
  return SCT_OK;
}

/* Waits for them; stream 0 is the current one then. */
static sct_status sync_ways(cuda_backend *c, const sct_transfer *t, sct_error *err) {
  sct_status status = SCT_OK;
  for (int k = 1; k >= 0; k--) {
    if (((int)t->way & 1 << k) != 0) {
      SCT_THEN(sct_cuda_use_stream(c->cuda, k, err));
      SCT_THEN(sct_cuda_sync(t->peer && k == 0 ? self(t->peer)->cuda : c->cuda, err));
    }
  }
  (void)sct_cuda_use_stream(c->cuda, 0, NULL); /* which is there */
  return status;
}

static sct_status cuda_transfer(sct_backend *b, const sct_transfer *t, double *ns, sct_error *err) {
  cuda_backend *c = self(b);
  sct_status status = SCT_OK;
  if (t->block[0].kind == SCT_HOST_MANAGED) {
    SCT_THEN(queue_ways(c, t, true, err));
    SCT_THEN(sync_ways(c, t, err));
  }
  const int64_t start = sct_now_ns();
  SCT_THEN(queue_ways(c, t, false, err));
  const sct_status synced = sync_ways(c, t, status == SCT_OK ? err : NULL);
  *ns = (double)(sct_now_ns() - start);
  return status == SCT_OK ? synced : status; /* the first failure is reported */
}

static sct_cuda *cuda_session(sct_backend *b) {
  return self(b)->cuda;
}

static const sct_backend_ops cuda_ops = {
    .close = cuda_close,
    .last = cuda_last,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .upload = cuda_upload,
    .download = cuda_download,
    .scatter = cuda_scatter,
    .gather = cuda_gather,
    .set = cuda_set,
    .copy = cuda_copy,
    .load = cuda_load,
    .unload = cuda_unload,
    .launch = cuda_launch,
    .sync = cuda_sync,
    .timer_start = cuda_timer_start,
    .timer_stop = cuda_timer_stop,
    .unit_begin = cuda_unit_begin,
    .unit_end = cuda_unit_end,
    .launch_empty = cuda_launch_empty,
    .reset_persisting_l2 = cuda_reset_persisting_l2,
    .check_health = cuda_check_health,
    .newcomers = cuda_newcomers,
    .fill = cuda_fill,
    .checksum = cuda_checksum,
    .compare = cuda_compare,
    .index = cuda_index,
    .settle = cuda_settle,
    .expect = NULL,
    .block_open = cuda_block_open,
    .block_close = cuda_block_close,
    .make_current = cuda_make_current,
    .transfer = cuda_transfer,
    .cuda = cuda_session,
    .n_copies = 4,
};

typedef struct own_kernel {
  sct_cuda_kernel *kernel;
  const char *entry;
} own_kernel;

static sct_status load_all(cuda_backend *c, void (*text)(sct_str *), const own_kernel *own, int n,
                           sct_error *err) {
  SCT_SCOPED(sct_str) ptx = {0};
  text(&ptx);
  for (int k = 0; k < n; k++) {
    SCT_TRY(sct_cuda_load(c->cuda, own[k].kernel, sct_str_c(&ptx), own[k].entry, 0, err));
  }
  return SCT_OK;
}

static sct_status load_own_kernels(cuda_backend *c, sct_error *err) {
  const own_kernel own[] = {{&c->fill, "sct_fill"},       {&c->checksum, "sct_checksum"},
                            {&c->compare, "sct_compare"}, {&c->spread, "sct_spread"},
                            {&c->settle, "sct_settle"},   {&c->index, "sct_index"},
                            {&c->copy16, "sct_copy16"},   {&c->hold, "sct_hold"},
                            {&c->stamp, "sct_stamp"},     {&c->empty, "sct_empty"}};
  const own_kernel kept[] = {{&c->evict_loads, "sct_copy16_evict_loads"},
                             {&c->evict_stores, "sct_copy16_evict_stores"}};
  SCT_TRY(load_all(c, sct_worker_ptx, own, SCT_COUNT(own), err));
  if (c->base.desc.cc_major >= 8) {
    return load_all(c, sct_worker_ptx_kept, kept, SCT_COUNT(kept), err);
  }
  const own_kernel plain[] = {{&c->evict_loads, "sct_copy16"}, {&c->evict_stores, "sct_copy16"}};
  return load_all(c, sct_worker_ptx, plain, SCT_COUNT(plain), err); /* knows no policies */
}

sct_status sct_backend_cuda_open(sct_backend **out, int ordinal, sct_error *err) {
  cuda_backend *c = sct_alloc(sizeof *c);
  sct_status status = SCT_OK;
  c->base.ops = &cuda_ops;
  SCT_TRY_DONE(sct_cuda_open(&c->cuda, ordinal, err));
  sct_cuda_describe(c->cuda, &c->base.desc);
  SCT_TRY_DONE(load_own_kernels(c, err));
  c->stamp_blocks = c->base.desc.n_sms > 0 ? c->base.desc.n_sms : 1;
  c->max_blocks = 16LL * c->stamp_blocks;
  void *mailbox = NULL;
  SCT_TRY_DONE(
      sct_cuda_host_alloc(c->cuda, &mailbox, &c->mailbox_device, 8 * (1 + 2 * STAMP_WORDS), err));
  c->mailbox = mailbox;
  *out = &c->base;
  return SCT_OK;
done:
  cuda_close(&c->base);
  return status;
}
