/* A described GPU behind the worker's table: kernels run as PTX on the CPU.
 *
 * Arrays live in host memory. Every launch gets a device memory of its own that holds copies of
 * exactly the arrays among its arguments, so an access outside of them meets nothing; what was
 * written is copied back when the interpreter found nothing wrong. A diagnosis fails the launch
 * with SCT_RESULT_PTX + its kind, and the next launch starts clean. */
#include "ptx/ptx.h"
#include "worker_backend.h"

#include <assert.h>
#include <string.h>

#define MAX_THREADS   8 /* of the host, for one launch */
#define BLOCKS_THREAD 8 /* blocks that are worth another thread */

/* Warp instructions of a block: some 100,000 as a rule, but one block may have everything to do. A
 * reduction whose 16 warps meet again after every element takes more than 400 for each. */
#define MAX_STEPS    4000000
#define STEPS_A_BYTE 1000               /* more, of each array */
#define MOST_COUNTED ((int64_t)1 << 24) /* bytes of it; larger ones are sparse */

#define CUDA_INVALID_VALUE 1 /* as the driver says of a launch with wrong arguments */
#define CUDA_OUT_OF_MEMORY 2
#define CUDA_NOT_SUPPORTED 801
#define CUDA_INVALID_IMAGE 200 /* of a text that is no PTX */
#define CUDA_NOT_FOUND     500 /* of a kernel that the text does not have */

typedef struct module_entry {
  sct_hash hash; /* of the text */
  sct_ptx_module *module;
  int refs; /* one for each loaded kernel, one for the text that was loaded last */
} module_entry;

/* A sparse one has chunks: those that nobody touched since it was set hold `background`, whatever
 * `raw` has there. */
typedef struct allocation {
  uint8_t *raw;
  int64_t bytes;
  uint8_t *there; /* [chunks] 1: it is in `raw`; NULL: all of it is */
  uint8_t background;
  sct_cuda_ptr expected; /* the pointer that `required` is about, 0: none */
  uint8_t *required;     /* bytes that kernels must write */
  int64_t n_required;
} allocation;
#define CHUNK_SHIFT 12
#define CHUNK       (1 << CHUNK_SHIFT)

typedef struct loaded_kernel {
  module_entry *entry;
  char *name;
  uint8_t *seen;             /* what its guards were in all launches */
  struct ptx_buf *variables; /* of its module, as the last launch left them */
} loaded_kernel;

typedef struct ptx_backend {
  sct_backend base;
  int last, n_cores;
  module_entry *parsed; /* the text that was loaded last: a batch of candidates shares one */
  allocation *allocations;
  size_t n_allocations, cap_allocations;
  int64_t timer_ns;
  sct_launch_counts run; /* of the last launch */
} ptx_backend;

static ptx_backend *self(sct_backend *b) {
  return (ptx_backend *)b;
}

/* ---- memory ---- */

static sct_status ptx_alloc(sct_backend *b, sct_cuda_ptr *out, int64_t bytes, sct_error *err) {
  (void)err;
  ptx_backend *p = self(b);
  SCT_GROW(p->allocations, p->n_allocations, p->cap_allocations);
  uint8_t *raw = sct_alloc((size_t)bytes + 1);
  p->allocations[p->n_allocations++] = (allocation){.raw = raw, .bytes = bytes};
  *out = (uintptr_t)raw;
  return SCT_OK;
}

static allocation *allocation_of(ptx_backend *p, sct_cuda_ptr address) {
  for (size_t k = 0; k < p->n_allocations; k++) {
    allocation *a = &p->allocations[k];
    if (sct_host(address) >= a->raw && sct_host(address) < a->raw + a->bytes) {
      return a;
    }
  }
  return NULL;
}

static sct_status ptx_alloc_sparse(sct_backend *b, sct_cuda_ptr *out, int64_t bytes,
                                   sct_error *err) {
  (void)err;
  ptx_backend *p = self(b);
  SCT_GROW(p->allocations, p->n_allocations, p->cap_allocations);
  uint8_t *raw = sct_alloc_sparse((size_t)bytes + 1);
  p->allocations[p->n_allocations++] = (allocation){
      .raw = raw, .bytes = bytes, .there = sct_alloc((size_t)(bytes >> CHUNK_SHIFT) + 1)};
  *out = (uintptr_t)raw;
  return SCT_OK;
}

/* As large as the allocation, and sparse where that is. */
static void free_like(const allocation *a, void *p, int64_t bytes) {
  if (a->there) {
    sct_unmap(p, (size_t)bytes + 1);
  } else {
    sct_free(p);
  }
}

static void ptx_release(sct_backend *b, sct_cuda_ptr address) {
  ptx_backend *p = self(b);
  allocation *a = allocation_of(p, address);
  if (a) {
    free_like(a, a->required, a->n_required);
    free_like(a, a->raw, a->bytes);
    sct_free(a->there);
    *a = p->allocations[--p->n_allocations];
  }
}

/* Puts bytes [lo, hi) of the allocation into `raw`, chunk by chunk. */
static void touch(allocation *a, int64_t lo, int64_t hi) {
  for (int64_t k = lo >> CHUNK_SHIFT; a->there && k << CHUNK_SHIFT < hi; k++) {
    const int64_t at = k << CHUNK_SHIFT, left = a->bytes - at;
    if (!a->there[k]) {
      memset(a->raw + at, a->background, (size_t)(left < CHUNK ? left : CHUNK));
      a->there[k] = 1;
    }
  }
}

/* Where the chunk of offset `at` ends. */
static int64_t chunk_end(int64_t at) {
  return ((at >> CHUNK_SHIFT) + 1) << CHUNK_SHIFT;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Where the first chunk at or after offset `lo` begins that is there, at most `hi`. */
static int64_t next_there(const allocation *a, int64_t lo, int64_t hi) {
  const int64_t k = lo >> CHUNK_SHIFT, n = (hi + CHUNK - 1) >> CHUNK_SHIFT;
  if (!a->there || lo >= hi) {
    return lo;
  }
  const uint8_t *next = memchr(a->there + k, 1, (size_t)(n - k));
  const int64_t at = next ? (next - a->there) << CHUNK_SHIFT : hi;
  return at < lo ? lo : at;
}

/* The allocation that an address of `bytes` bytes lies in, with these in `raw`; NULL: an empty
 * array. */
static allocation *touched(ptx_backend *p, sct_cuda_ptr address, int64_t bytes) {
  allocation *a = allocation_of(p, address);
  if (a) {
    const int64_t lo = sct_host(address) - a->raw;
    touch(a, lo, lo + bytes);
  }
  return a;
}

static sct_status ptx_upload(sct_backend *b, sct_cuda_ptr to, const void *from, int64_t bytes,
                             sct_error *err) {
  (void)touched(self(b), to, bytes);
  return sct_host_upload(b, to, from, bytes, err);
}

static sct_status ptx_download(sct_backend *b, void *to, sct_cuda_ptr from, int64_t bytes,
                               sct_error *err) {
  (void)touched(self(b), from, bytes);
  return sct_host_download(b, to, from, bytes, err);
}

static sct_status ptx_set(sct_backend *b, sct_cuda_ptr address, uint8_t byte, int64_t bytes,
                          sct_error *err) {
  allocation *a = allocation_of(self(b), address);
  if (!a || !a->there) {
    return sct_host_set(b, address, byte, bytes, err);
  }
  const int64_t lo = sct_host(address) - a->raw, hi = lo + bytes;
  const int64_t first = (lo + CHUNK - 1) >> CHUNK_SHIFT, last = hi >> CHUNK_SHIFT;
  const int64_t inner_lo = first << CHUNK_SHIFT, inner_hi = last << CHUNK_SHIFT;
  if (inner_lo >= inner_hi) {
    touch(a, lo, hi);
    memset(a->raw + lo, byte, (size_t)bytes);
    return SCT_OK;
  }
  touch(a, 0, inner_lo);
  touch(a, inner_hi, a->bytes);
  memset(a->raw + lo, byte, (size_t)(inner_lo - lo));
  memset(a->raw + inner_hi, byte, (size_t)(hi - inner_hi));
  memset(a->there + first, 0, (size_t)(last - first));
  a->background = byte;
  return SCT_OK;
}

static sct_status ptx_fill(sct_backend *b, sct_cuda_ptr address, int64_t words, uint64_t and_mask,
                           uint64_t or_mask, uint64_t seed, sct_error *err) {
  (void)touched(self(b), address, words * 8);
  return sct_host_fill(b, address, words, and_mask, or_mask, seed, err);
}

static sct_status ptx_copy(sct_backend *b, int variant, sct_cuda_ptr to, sct_cuda_ptr from,
                           int64_t bytes, sct_error *err) {
  (void)variant;
  allocation *a = allocation_of(self(b), from);
  if (bytes == 0) { /* an empty array has no address */
    return SCT_OK;
  }
  if (!a || !a->there) {
    return ptx_upload(b, to, sct_host(from), bytes, err);
  }
  const int64_t lo = sct_host(from) - a->raw, hi = lo + bytes;
  SCT_TRY(ptx_set(b, to, a->background, bytes, err));
  for (int64_t at = next_there(a, lo, hi), end = 0; at < hi; at = next_there(a, end, hi)) {
    end = least(chunk_end(at), hi);
    SCT_TRY(ptx_upload(b, to + (uint64_t)(at - lo), a->raw + at, end - at, err));
  }
  return SCT_OK;
}

static sct_status ptx_expect(sct_backend *b, sct_cuda_ptr address, const uint8_t *flags,
                             const uint8_t *data, int64_t bytes, sct_error *err) {
  (void)err;
  (void)data;
  ptx_backend *p = self(b);
  allocation *a = allocation_of(p, address), *from = allocation_of(p, (uintptr_t)flags);
  assert(a != NULL);
  const size_t n = (size_t)bytes + 1;
  uint8_t *required = a->there ? sct_alloc_sparse(n) : sct_alloc(n);
  const int64_t lo = from ? flags - from->raw : 0;
  for (int64_t at = 0, end = 0; from && at < bytes; at = end) { /* they are 0 where none was sent */
    at = next_there(from, lo + at, lo + bytes) - lo;
    end = from->there ? least(chunk_end(lo + at) - lo, bytes) : bytes;
    memcpy(required + at, flags + at, at < bytes ? (size_t)(end - at) : 0);
  }
  free_like(a, a->required, a->n_required);
  a->required = required;
  a->n_required = bytes;
  a->expected = address;
  return SCT_OK;
}

/* ---- comparisons ---- */

/* One of the arrays that are compared. */
typedef struct side {
  allocation *a; /* NULL: there is none */
  int64_t lo;    /* of the array, in it */
} side;

static side side_of(ptx_backend *p, sct_cuda_ptr address) {
  allocation *a = address != 0 ? allocation_of(p, address) : NULL;
  return (side){a, a ? sct_host(address) - a->raw : 0};
}

/* Bytes [at, end) of a side, which lie in one chunk; of one that is not there in `room`. */
static const uint8_t *bytes_of_side(const side *s, int64_t at, int64_t end, uint8_t room[CHUNK]) {
  const int64_t lo = s->lo + at;
  if (!s->a) {
    return NULL;
  }
  return !s->a->there || s->a->there[lo >> CHUNK_SHIFT]
             ? s->a->raw + lo
             : memset(room, s->a->background, (size_t)(end - at));
}

/* Bytes of all of them up to which none has a chunk that is there, from byte `at` on. */
static int64_t untouched_until(const side *sides, int n, int64_t at, int64_t bytes) {
  int64_t end = bytes;
  for (int k = 0; k < n; k++) {
    const side *s = &sides[k];
    end = s->a ? least(end, next_there(s->a, s->lo + at, s->lo + bytes) - s->lo) : end;
  }
  return end;
}

static sct_status ptx_compare(sct_backend *b, sct_cuda_ptr a, sct_cuda_ptr ref, sct_cuda_ptr ref2,
                              int64_t bytes, int64_t *n_differ, int64_t *first, sct_error *err) {
  ptx_backend *p = self(b);
  const side sides[] = {side_of(p, a), side_of(p, ref), side_of(p, ref2)};
  if (!sides[0].a || !sides[1].a || !sides[0].a->there || !sides[1].a->there) {
    (void)touched(p, a, bytes);
    (void)touched(p, ref, bytes);
    return sct_host_compare(b, a, ref, ref2, bytes, n_differ, first, err);
  }
  const uint8_t want = sides[1].a->background;
  const bool differ =
      sides[0].a->background != want && !(sides[2].a && sides[2].a->background != want);
  uint8_t room[SCT_COUNT(sides)][CHUNK];
  *n_differ = 0;
  *first = -1;
  for (int64_t at = 0, end = 0; at < bytes; at = end) {
    int64_t n = 0, where = -1;
    end = untouched_until(sides, SCT_COUNT(sides), at, bytes);
    if (end > at) {
      n = differ ? end - at : 0;
      where = 0;
    } else {
      const uint8_t *data[SCT_COUNT(sides)];
      end = bytes;
      for (int k = 0; k < SCT_COUNT(sides); k++) {
        end = sides[k].a ? least(end, chunk_end(sides[k].lo + at) - sides[k].lo) : end;
      }
      for (int k = 0; k < SCT_COUNT(sides); k++) {
        data[k] = bytes_of_side(&sides[k], at, end, room[k]);
      }
      n = sct_bytes_differ(data[0], data[1], data[2], end - at, &where);
    }
    *first = *first < 0 && n > 0 ? at + where : *first;
    *n_differ += n;
  }
  return SCT_OK;
}

/* ---- modules and kernels ---- */

static void release_entry(module_entry *e) {
  if (e && --e->refs == 0) {
    sct_ptx_module_free(e->module);
    sct_free(e);
  }
}

/* p->parsed becomes that of the text. */
static sct_status parse(ptx_backend *p, const char *text, sct_error *err) {
  const sct_hash hash = sct_hash_text(text);
  if (p->parsed && sct_hash_equal(p->parsed->hash, hash)) {
    return SCT_OK;
  }
  sct_ptx_module *module = NULL;
  const sct_status status = sct_ptx_parse(&module, text, "PTX", err);
  if (status != SCT_OK) {
    p->last = status == SCT_EDATA ? CUDA_INVALID_IMAGE : 0;
    return status;
  }
  release_entry(p->parsed);
  p->parsed = sct_alloc(sizeof *p->parsed);
  *p->parsed = (module_entry){.hash = hash, .module = module, .refs = 1};
  return SCT_OK;
}

static sct_status ptx_load(sct_backend *b, sct_cuda_kernel *out, const void *image,
                           const char *entry, int64_t shared_bytes, int64_t serial,
                           sct_error *err) {
  (void)shared_bytes;
  (void)serial;
  ptx_backend *p = self(b);
  SCT_TRY(parse(p, image, err));
  module_entry *e = p->parsed;
  const sct_ptx_kernel *kernel = sct_ptx_kernel_find(e->module, entry);
  if (!kernel) {
    p->last = CUDA_NOT_FOUND;
    return sct_fail(err, SCT_EDATA, "the PTX has no kernel %s", entry);
  }
  if (kernel->error) {
    p->last = SCT_RESULT_UNSUPPORTED;
    return sct_fail(err, SCT_EDATA, "%s", kernel->error);
  }
  loaded_kernel *loaded = sct_alloc(sizeof *loaded);
  *loaded = (loaded_kernel){
      .entry = e, .name = sct_strdup(entry), .seen = sct_alloc((size_t)kernel->n_instructions + 1)};
  e->refs++;
  *out = (sct_cuda_kernel){loaded, loaded};
  return SCT_OK;
}

static void ptx_unload(sct_backend *b, sct_cuda_kernel *kernel) {
  (void)b;
  loaded_kernel *loaded = kernel->module;
  release_entry(loaded->entry);
  sct_free(loaded->name);
  sct_free(loaded->seen);
  sct_ptx_variables_free(loaded->variables);
  sct_free(loaded);
  *kernel = (sct_cuda_kernel){0};
}

/* ---- launches ---- */

/* The interpreter accesses bytes of a sparse array for the first time. */
static void bring_chunk(void *ctx, uint8_t *out, int64_t offset, int64_t bytes) {
  const side *s = ctx;
  const int64_t lo = s->lo + offset;
  for (int64_t at = lo, end = 0; at < lo + bytes; at = end) {
    end = least(chunk_end(at), lo + bytes);
    if (s->a->there[at >> CHUNK_SHIFT]) {
      memcpy(out + (at - lo), s->a->raw + at, (size_t)(end - at));
    } else {
      memset(out + (at - lo), s->a->background, (size_t)(end - at));
    }
  }
}

/* Copies of the arrays among the arguments; their addresses become the arguments' values.
 * sides: [n_args] what the sparse ones are brought from, as they are accessed. */
static sct_status bring_arrays(ptx_backend *p, sct_ptx_memory *memory, const sct_launch *launch,
                               uint64_t values[][2], side *sides, sct_error *err) {
  for (int k = 0; k < launch->n_args; k++) {
    const sct_arg *arg = &launch->args[k];
    memcpy(values[k], arg->value, sizeof arg->value);
    if (!arg->is_buffer) {
      continue;
    }
    sides[k] = side_of(p, arg->value[0]);
    const allocation *a = sides[k].a;
    const sct_ptx_buffer buffer = {.name = arg->name,
                                   .bytes = arg->buffer_bytes,
                                   .data = sct_host(arg->value[0]),
                                   .misalign = arg->residue % SCT_PLACE_BYTES,
                                   .read_only = arg->read_only,
                                   .fill = a && a->there ? bring_chunk : NULL,
                                   .fill_ctx = &sides[k],
                                   .required =
                                       a && a->expected == arg->value[0] ? a->required : NULL};
    SCT_TRY(sct_ptx_memory_add(memory, &values[k][0], &buffer, err));
  }
  return SCT_OK;
}

static void take_chunks(const sct_ptx_memory *memory, uint64_t address, const side *s) {
  const uint8_t *data = sct_ptx_memory_data(memory, address);
  for (int64_t from = 0, to = 0; sct_ptx_memory_next_filled(memory, address, &from, &to);) {
    touch(s->a, s->lo + from, s->lo + to);
    memcpy(s->a->raw + s->lo + from, data + from, (size_t)(to - from));
  }
}

static void take_arrays(const sct_ptx_memory *memory, const sct_launch *launch,
                        uint64_t values[][2], const side *sides) {
  for (int k = 0; k < launch->n_args; k++) {
    const sct_arg *arg = &launch->args[k];
    if (arg->is_buffer && !arg->read_only && sides[k].a && sides[k].a->there) {
      take_chunks(memory, values[k][0], &sides[k]);
    } else if (arg->is_buffer && !arg->read_only) {
      memcpy(sct_host(arg->value[0]), sct_ptx_memory_data(memory, values[k][0]),
             (size_t)arg->buffer_bytes);
    }
  }
}

/* "line 12: out_of_bounds: reads 4 bytes ... (ld.global.f32 ..., block 3, warp 0, lane 5)": the
 * line is the CUDA source's, and stands first so that it can be followed to the template. */
static void print_diag(sct_str *text, const sct_ptx_diag *d) {
  if (d->line > 0) {
    sct_str_printf(text, "line %d", d->line);
    for (int k = 0; k < d->n_called; k++) {
      sct_str_printf(text, "%s%d", k == 0 ? ", called in line " : ", ", d->called[k]);
      if (d->called_file[k][0] != '\0') {
        sct_str_printf(text, " of %s", d->called_file[k]);
      }
    }
    sct_str_append(text, ": ");
  }
  sct_str_printf(text, "%s: %s (", sct_ptx_kind_name(d->kind), d->text);
  if (d->ptx_line > 0) {
    sct_str_printf(text, "%s, ", d->instruction);
  }
  sct_str_printf(text, "block %lld", (long long)d->block[0]);
  if (d->warp >= 0) {
    sct_str_printf(text, ", warp %d", d->warp);
  }
  if (d->lane >= 0) {
    sct_str_printf(text, ", lane %d", d->lane);
  }
  sct_str_append(text, ")");
}

static sct_status diagnosed(ptx_backend *p, const sct_ptx_diag *d, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  print_diag(&text, d);
  p->last = SCT_RESULT_PTX + (int)d->kind;
  return sct_fail(err, SCT_EDATA, "%s", sct_str_c(&text));
}

static void take_warning(ptx_backend *p, const sct_ptx_diag *d) {
  SCT_SCOPED(sct_str) text = {0};
  if (d->kind != SCT_PTX_CLEAN) {
    print_diag(&text, d);
  }
  snprintf(p->run.warning, sizeof p->run.warning, "%s", sct_str_c(&text));
}

static void take_counts(ptx_backend *p, const sct_ptx_counters *c) {
  p->run.counts = (sct_run_counts){.requests_ld = c->load.requests + c->bulk_load.requests,
                                   .sectors_ld = c->load.sectors + c->bulk_load.sectors,
                                   .requests_st = c->store.requests + c->bulk_store.requests,
                                   .sectors_st = c->store.sectors + c->bulk_store.sectors,
                                   .wavefronts_ld = c->shared_load.wavefronts,
                                   .wavefronts_st = c->shared_store.wavefronts};
  p->run.machine = c->machine;
}

static void ptx_counts(sct_backend *b, sct_launch_counts *out) {
  *out = self(b)->run;
}

#define MOST_PLACES 16

/* Lines of the kernel's own file stand first, so that they can be followed to the template. */
static int ptx_uncovered(sct_backend *b, const sct_cuda_kernel *kernel, sct_str *places) {
  (void)b;
  const loaded_kernel *loaded = kernel->function;
  sct_ptx_guard guards[MOST_PLACES];
  const int n =
      sct_ptx_uncovered(guards, MOST_PLACES, loaded->entry->module, loaded->name, loaded->seen);
  for (int k = 0; k < n && k < MOST_PLACES; k++) {
    const sct_ptx_guard *g = &guards[k];
    if (g->own) {
      sct_str_printf(places, "line %d", g->line);
    } else {
      sct_str_printf(places, "%s:%d", g->file, g->line);
    }
    sct_str_printf(places, ": never %s: %.*s\n", g->was_true ? "false" : "true", g->text_len,
                   g->text);
  }
  return n;
}

static int64_t most_steps(const sct_launch *launch) {
  int64_t steps = MAX_STEPS;
  for (int k = 0; k < launch->n_args; k++) {
    const sct_arg *arg = &launch->args[k];
    const int64_t bytes = arg->buffer_bytes < MOST_COUNTED ? arg->buffer_bytes : MOST_COUNTED;
    steps += arg->is_buffer && !arg->is_workspace ? STEPS_A_BYTE * bytes : 0;
  }
  return steps;
}

static bool has_sparse(ptx_backend *p, const sct_launch *launch) {
  bool has = false;
  for (int k = 0; k < launch->n_args && !has; k++) {
    const sct_arg *arg = &launch->args[k];
    const allocation *a = arg->is_buffer ? allocation_of(p, arg->value[0]) : NULL;
    has = a && a->there;
  }
  return has;
}

static sct_status ptx_launch(sct_backend *b, const sct_cuda_kernel *kernel,
                             const sct_launch *launch, sct_error *err) {
  ptx_backend *p = self(b);
  loaded_kernel *loaded = kernel->function;
  uint64_t values[SCT_MAX_ARGS][2];
  side sides[SCT_MAX_ARGS] = {{0}};
  const void *args[SCT_MAX_ARGS];
  for (int k = 0; k < launch->n_args; k++) {
    args[k] = values[k];
  }
  const int64_t threads = 1 + launch->blocks / BLOCKS_THREAD;
  const bool sparse = has_sparse(p, launch);
  const sct_ptx_launch_opts opts = {.module = loaded->entry->module,
                                    .kernel = loaded->name,
                                    .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
                                    .block = {launch->block[0], launch->block[1], launch->block[2]},
                                    .shared_bytes = launch->shared_bytes,
                                    .args = args,
                                    .n_args = launch->n_args,
                                    .passes = launch->passes,
                                    .threads = sparse                 ? 1
                                               : threads < p->n_cores ? (int)threads
                                                                      : p->n_cores,
                                    .order = launch->reversed ? SCT_PTX_REVERSE : SCT_PTX_FORWARD,
                                    .rounding = launch->rounding,
                                    .max_steps = most_steps(launch),
                                    .seen = loaded->seen,
                                    .variables = &loaded->variables,
                                    .max_shared_bytes = (int)p->base.desc.smem_block_optin_bytes};
  sct_ptx_memory *memory = NULL;
  SCT_SCOPED(sct_ptx_result) result = {0};
  sct_status status = SCT_OK;
  sct_ptx_memory_new(&memory);
  SCT_TRY_DONE(bring_arrays(p, memory, launch, values, sides, err));
  status = sct_ptx_launch(&result, memory, &opts, err);
  if (status == SCT_EUSAGE || status == SCT_EDATA) {
    p->last = status == SCT_EUSAGE ? CUDA_INVALID_VALUE : SCT_RESULT_UNSUPPORTED;
  } else if (status == SCT_OK && result.diag.kind != SCT_PTX_CLEAN) {
    status = diagnosed(p, &result.diag, err);
  } else if (status == SCT_OK) {
    take_arrays(memory, launch, values, sides);
    take_counts(p, &result.counters);
    take_warning(p, &result.warning);
  }
done:
  sct_ptx_memory_free(memory);
  return status;
}

/* ---- the device itself ---- */

static sct_status ptx_sync(sct_backend *b, sct_error *err) {
  (void)b;
  (void)err;
  return SCT_OK;
}

static sct_status ptx_timer_start(sct_backend *b, sct_error *err) {
  (void)err;
  self(b)->timer_ns = sct_now_ns();
  return SCT_OK;
}

/* The interpreter's own time: for limits of requests, never a candidate's. */
static sct_status ptx_timer_stop(sct_backend *b, double *ns, sct_error *err) {
  (void)err;
  *ns = (double)(sct_now_ns() - self(b)->timer_ns);
  return SCT_OK;
}

static int ptx_last(sct_backend *b) {
  const int last = self(b)->last;
  self(b)->last = 0;
  return last;
}

static void ptx_close(sct_backend *b) {
  ptx_backend *p = self(b);
  release_entry(p->parsed);
  while (p->n_allocations > 0) {
    ptx_release(b, (uintptr_t)p->allocations[0].raw);
  }
  sct_free(p->allocations);
  sct_free(p);
}

#define FIRST_PREFETCH 6 /* the first number of the compute capability */
#define FIRST_PEER     2

static sct_status need(ptx_backend *p, int cc_major, const char *what, sct_error *err) {
  if (p->base.desc.cc_major >= cc_major) {
    return SCT_OK;
  }
  p->last = CUDA_NOT_SUPPORTED;
  return sct_fail(err, SCT_EUSAGE, "there is no %s below compute capability %d.0", what, cc_major);
}

static sct_status need_room(ptx_backend *p, int64_t bytes, const char *whose, sct_error *err) {
  char size[32], memory[32];
  const int64_t there = p->base.desc.memory_bytes;
  if (2 * bytes <= there) {
    return SCT_OK;
  }
  p->last = CUDA_OUT_OF_MEMORY;
  return sct_fail(err, SCT_ENOMEM, "two arrays of %s do not fit the %s %s",
                  sct_format_bytes(size, (double)bytes), whose,
                  sct_format_bytes(memory, (double)there));
}

static sct_status ptx_block_open(sct_backend *b, sct_backend *peer, sct_host_block *out,
                                 sct_host_kind kind, int64_t bytes, sct_error *err) {
  if (kind == SCT_HOST_MANAGED) {
    SCT_TRY(need(self(b), FIRST_PREFETCH, "prefetch", err));
  }
  if (kind == SCT_HOST_PEER) {
    SCT_TRY(need(self(b), FIRST_PEER, "peer access", err));
    SCT_TRY(need(self(peer), FIRST_PEER, "peer access", err));
  }
  SCT_TRY(need_room(self(b), bytes, "device's", err));
  if (peer) {
    SCT_TRY(need_room(self(peer), bytes, "second device's", err));
  }
  return sct_host_block_open(b, peer, out, kind, bytes, err);
}

static const sct_backend_ops ptx_ops = {
    .close = ptx_close,
    .last = ptx_last,
    .alloc = ptx_alloc,
    .alloc_sparse = ptx_alloc_sparse,
    .release = ptx_release,
    .upload = ptx_upload,
    .download = ptx_download,
    .scatter = sct_host_scatter,
    .gather = sct_host_gather,
    .set = ptx_set,
    .copy = ptx_copy,
    .load = ptx_load,
    .unload = ptx_unload,
    .launch = ptx_launch,
    .sync = ptx_sync,
    .timer_start = ptx_timer_start,
    .timer_stop = ptx_timer_stop,
    .fill = ptx_fill,
    .compares_anywhere = true,
    .compare = ptx_compare,
    .expect = ptx_expect,
    .counts = ptx_counts,
    .uncovered = ptx_uncovered,
    .block_open = ptx_block_open,
    .block_close = sct_host_block_close,
    .transfer = sct_host_transfer,
    .n_copies = 1,
};

void sct_backend_ptx_open(sct_backend **out, const sct_device_desc *desc) {
  ptx_backend *p = sct_alloc(sizeof *p);
  sct_memory_keep_pages();
  p->base.ops = &ptx_ops;
  p->base.desc = *desc;
  p->n_cores = sct_cores() < MAX_THREADS ? sct_cores() : MAX_THREADS;
  *out = &p->base;
}
