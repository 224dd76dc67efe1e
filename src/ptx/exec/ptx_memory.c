/* The allocation registry: every buffer in an address window of its own. */
#include "ptx/exec/ptx_memory.h"

#include <string.h>

#define MAX_BUFFER_BYTES (INT64_C(1) << 34)

void sct_ptx_memory_new(sct_ptx_memory **out) {
  *out = sct_alloc(sizeof **out);
}

void sct_ptx_buf_free(ptx_buf *b) {
  if (b != NULL) {
    if (ptx_is_sparse(b)) {
      sct_unmap(b->host, (size_t)b->bytes + 1);
      sct_unmap(b->defined, (size_t)b->bytes + 1);
    } else {
      sct_free(b->host);
      sct_free(b->defined);
      sct_free((void *)(uintptr_t)b->required);
    }
    sct_free(b->filled);
    sct_free(b->fresh);
    sct_free(b->name);
    sct_free(b);
  }
}

void sct_ptx_memory_free(sct_ptx_memory *memory) {
  if (memory == NULL) {
    return;
  }
  for (int i = 0; i < PTX_N_WINDOWS; i++) {
    sct_ptx_buf_free(memory->table[i]);
  }
  sct_ptx_heap_free(memory->heap);
  sct_free(memory);
}

/* Memory for the contents, and what is known of them. false: there is no room for them. */
static bool make_room(ptx_buf *b, const sct_ptx_buffer *given) {
  const size_t bytes = given->bytes > 0 ? (size_t)given->bytes : 1;
  const int64_t n_given = given->fold > 0 ? given->fold : given->bytes;
  b->keep = given->fold > 0 ? (uint64_t)given->fold - 1 : UINT64_MAX;
  b->fill = given->fill;
  b->fill_ctx = given->fill_ctx;
  b->used = given->used;
  b->used_ctx = given->used_ctx;
  if (b->fill != NULL) {
    b->host = sct_map_sparse((size_t)b->bytes + 1);
    b->filled = sct_alloc(((size_t)b->bytes >> PTX_CHUNK_SHIFT) + 1);
    return b->host != NULL;
  }
  b->host = sct_alloc(given->fold > 0 ? (size_t)given->fold + PTX_FOLD_MORE : bytes);
  if (given->data != NULL && n_given > 0) {
    memcpy(b->host, given->data, (size_t)n_given);
  }
  if (given->fold > 0 && !given->read_only) {
    b->fresh = sct_alloc((size_t)n_given);
    memcpy(b->fresh, b->host, (size_t)n_given);
  }
  const bool tracked = given->data == NULL && given->fold == 0;
  b->defined = tracked ? sct_alloc(bytes) : NULL;
  return true;
}

static void take_required(ptx_buf *b, const sct_ptx_buffer *given) {
  if (given->required == NULL || given->fill != NULL) {
    b->required = given->required;
    return;
  }
  uint8_t *const copy = sct_alloc(given->bytes > 0 ? (size_t)given->bytes : 1);
  if (given->bytes > 0) {
    memcpy(copy, given->required, (size_t)given->bytes);
  }
  b->required = copy;
}

sct_status sct_ptx_memory_add(sct_ptx_memory *m, uint64_t *address, const sct_ptx_buffer *given,
                              sct_error *err) {
  const char *name = given->name != NULL ? given->name : "?";
  if (given->bytes < 0 || given->bytes > MAX_BUFFER_BYTES || given->misalign < 0 ||
      given->misalign >= 512) {
    return sct_fail(err, SCT_EUSAGE, "buffer '%s': size or misalignment out of range", name);
  }
  const int window = PTX_WINDOW_FIRST + m->n_buffers;
  if (window >= PTX_N_WINDOWS - 100) {
    return sct_fail(err, SCT_EUSAGE, "more than %d buffers", m->n_buffers);
  }
  ptx_buf *b = sct_alloc(sizeof *b);
  b->base =
      PTX_WINDOW(window) + (UINT64_C(1) << (PTX_WINDOW_SHIFT - 1)) + (uint64_t)given->misalign;
  b->bytes = given->bytes;
  b->name = sct_strdup(name);
  if (!make_room(b, given)) { /* a size of the user's, which is not touched as a whole */
    sct_ptx_buf_free(b);
    return sct_fail(err, SCT_ENOMEM, "no address space for buffer '%s' of %lld bytes", name,
                    (long long)given->bytes);
  }
  b->read_only = given->read_only;
  b->output = given->output;
  take_required(b, given);
  m->table[window] = b;
  m->n_buffers++;
  *address = b->base;
  return SCT_OK;
}

static size_t chunk_bytes(const ptx_buf *b, int64_t k) {
  const int64_t left = b->bytes - (k << PTX_CHUNK_SHIFT);
  return (size_t)(left < PTX_CHUNK ? left : PTX_CHUNK);
}

void sct_ptx_buf_fill(ptx_buf *b, int64_t from, int64_t bytes) {
  const int64_t last = (from + bytes - 1) >> PTX_CHUNK_SHIFT;
  for (int64_t k = from >> PTX_CHUNK_SHIFT; k <= last; k++) {
    if (b->filled[k] == 0) {
      const int64_t at = k << PTX_CHUNK_SHIFT;
      const size_t chunk = chunk_bytes(b, k);
      b->filled[k] = 1;
      b->n_filled += (int64_t)chunk;
      b->fill(b->fill_ctx, b->host + at, at, (int64_t)chunk);
      if (b->defined != NULL) {
        memset(b->defined + at, 0xff, chunk);
      }
    }
  }
}

bool sct_ptx_memory_next_filled(const sct_ptx_memory *m, uint64_t address, int64_t *from,
                                int64_t *to) {
  const ptx_buf *b = ptx_memory_window(m, address);
  const int64_t n = (b->bytes + PTX_CHUNK - 1) >> PTX_CHUNK_SHIFT;
  int64_t k = (*to + PTX_CHUNK - 1) >> PTX_CHUNK_SHIFT;
  const uint8_t *next = k < n ? memchr(b->filled + k, 1, (size_t)(n - k)) : NULL;
  if (next == NULL) {
    return false;
  }
  k = next - b->filled;
  *from = k << PTX_CHUNK_SHIFT;
  while (k < n && b->filled[k] != 0) {
    k++;
  }
  *to = k << PTX_CHUNK_SHIFT < b->bytes ? k << PTX_CHUNK_SHIFT : b->bytes;
  return true;
}

static ptx_buf *buffer_at(const sct_ptx_memory *m, uint64_t address) {
  ptx_buf *b = ptx_memory_window(m, address);
  return b != NULL && b->base == address ? b : NULL;
}

static bool is_whole(const ptx_buf *b) { /* not folded */
  return b->keep == UINT64_MAX;
}

/* Of contents on demand, which are for one host thread: of the chunks that are there. */
static void track_filled(ptx_buf *b) {
  if (b->defined == NULL) {
    b->defined = sct_alloc_sparse((size_t)b->bytes + 1);
    b->has_undefined = true;
    for (int64_t k = 0; k << PTX_CHUNK_SHIFT < b->bytes; k++) {
      memset(b->defined + (k << PTX_CHUNK_SHIFT), 0xff, b->filled[k] != 0 ? chunk_bytes(b, k) : 0);
    }
  }
}

bool sct_ptx_buf_track_undefined(ptx_buf *b) {
  uint8_t *none = NULL;
  if (!is_whole(b)) {
    return false;
  }
  if (b->fill != NULL) {
    track_filled(b);
    return true;
  }
  if (__atomic_load_n(&b->defined, __ATOMIC_ACQUIRE) == NULL) {
    uint8_t *all = sct_alloc((size_t)b->bytes);
    memset(all, 0xff, (size_t)b->bytes);
    b->has_undefined = true;
    if (!__atomic_compare_exchange_n(&b->defined, &none, all, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
      sct_free(all); /* another host thread was first */
    }
  }
  return true;
}

int64_t sct_ptx_buf_undefined(const ptx_buf *b, int64_t from, int64_t to) {
  for (int64_t i = from; b->defined != NULL && i < to; i++) {
    if (b->fill != NULL && b->filled[i >> PTX_CHUNK_SHIFT] == 0) {
      i |= PTX_CHUNK - 1;
    } else if (b->defined[i] != 0xff && (b->required == NULL || b->required[i] != 0)) {
      return i;
    }
  }
  return -1;
}

void sct_ptx_memory_reset(sct_ptx_memory *m, uint64_t address, const void *data) {
  ptx_buf *b = buffer_at(m, address);
  if (b == NULL) {
    return;
  }
  if (b->fill != NULL) {
    sct_map_forget(b->host, (size_t)b->bytes + 1);
    memset(b->filled, 0, ((size_t)b->bytes >> PTX_CHUNK_SHIFT) + 1);
    b->n_filled = 0;
    sct_unmap(b->defined, (size_t)b->bytes + 1);
    b->defined = NULL;
    b->has_undefined = false;
    return;
  }
  b->has_undefined = false;
  const int64_t n = is_whole(b) ? b->bytes : (int64_t)b->keep + 1;
  if (data != NULL && n > 0) {
    memcpy(b->host, data, (size_t)n);
  }
  if (data == NULL && b->defined == NULL && is_whole(b)) {
    b->defined = sct_alloc((size_t)(b->bytes > 0 ? b->bytes : 1)); /* without it: all defined */
  } else if (b->defined != NULL) {
    memset(b->defined, data != NULL ? 0xff : 0, (size_t)b->bytes);
  }
}

void sct_ptx_memory_refresh(sct_ptx_memory *m) {
  for (int k = 0; k < m->n_buffers; k++) {
    ptx_buf *const b = m->table[PTX_WINDOW_FIRST + k];
    if (b->fresh != NULL) {
      memcpy(b->host, b->fresh, (size_t)b->keep + 1);
    }
  }
}

const uint8_t *sct_ptx_memory_data(const sct_ptx_memory *m, uint64_t address) {
  const ptx_buf *b = buffer_at(m, address);
  return b != NULL ? b->host : NULL;
}

int64_t sct_ptx_memory_filled(const sct_ptx_memory *m, uint64_t address) {
  const ptx_buf *b = buffer_at(m, address);
  return b != NULL ? b->n_filled : 0;
}

sct_ptx_buffer_counters sct_ptx_memory_counts(const sct_ptx_memory *m, uint64_t address) {
  const ptx_buf *b = buffer_at(m, address);
  return b != NULL ? b->counts : (sct_ptx_buffer_counters){0};
}

int64_t sct_ptx_memory_undefined(const sct_ptx_memory *m, uint64_t address, int64_t from) {
  const ptx_buf *b = buffer_at(m, address);
  return b != NULL ? sct_ptx_buf_undefined(b, from, b->bytes) : -1;
}

/* ---- variables of the module */

/* Address that an initialiser's name stands for; 0: none that this kernel could use. */
static uint64_t reloc_address(const sct_ptx_module *m, const ptx_code *code, const ptx_reloc *r) {
  const ptx_sym *to = sct_ptx_sym_find(m->syms, r->name);
  if (to == NULL) {
    return 0;
  }
  if (to->space != PTX_SPACE_FUNC) {
    return PTX_WINDOW(PTX_WINDOW_VARS) + (uint64_t)(to->offset + r->addend);
  }
  for (size_t i = 0; code != NULL && i < code->n_bodies; i++) {
    if (code->bodies[i].func == to->func) {
      return PTX_WINDOW(PTX_WINDOW_FUNCS) + 16 * i;
    }
  }
  return 0;
}

static void relocate(const sct_ptx_module *m, const ptx_code *code, const ptx_sym *sym,
                     uint8_t *at) {
  for (const ptx_reloc *r = sym->relocs; r != NULL; r = r->next) {
    const uint64_t address = reloc_address(m, code, r);
    if (r->offset + 8 <= sym->bytes) {
      memcpy(at + r->offset, &address, 8);
    }
  }
}

ptx_buf *sct_ptx_vars_new(const sct_ptx_module *m, const ptx_code *code) {
  ptx_buf *b = sct_alloc(sizeof *b);
  b->base = PTX_WINDOW(PTX_WINDOW_VARS);
  b->bytes = m->window_bytes;
  b->keep = UINT64_MAX;
  b->host = sct_alloc((size_t)m->window_bytes);
  b->name = sct_strdup("a variable of the module");
  b->in_pieces = true;
  for (const ptx_sym *sym = m->syms; sym != NULL; sym = sym->next) {
    if ((sym->space == PTX_SPACE_GLOBAL || sym->space == PTX_SPACE_CONST) && sym->init != NULL) {
      memcpy(b->host + sym->offset, sym->init, (size_t)sym->bytes);
      relocate(m, code, sym, b->host + sym->offset);
    }
  }
  return b;
}

#define GRID_BYTES 64 /* of which 4 are the barrier */

ptx_buf *sct_ptx_grid_buf_new(void) {
  ptx_buf *b = sct_alloc(sizeof *b);
  b->base = PTX_WINDOW(PTX_WINDOW_GRID);
  b->bytes = GRID_BYTES;
  b->keep = UINT64_MAX;
  b->host = sct_alloc(GRID_BYTES);
  b->name = sct_strdup("the barrier of the grid");
  return b;
}
