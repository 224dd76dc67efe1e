/* The heap of a device: what malloc gives, in an address window of its own. It outlives launches as
 * it does on a GPU.
 *
 * Allocations follow each other with a gap between, so that what runs out of one lands in none, and
 * freed ones keep their place until the window's end is reached: then their bytes are given anew,
 * from its start on. */
#include "ptx/exec/ptx_exec.h"

#define DEFAULT_LIMIT (INT64_C(8) << 20) /* of cudaLimitMallocHeapSize */
#define ROUNDS        8                  /* the window has so many times the limit */
#define OVERHEAD      16                 /* of the limit, by each allocation */
#define GAP           64
#define PAGE          4096

typedef struct allocation {
  int64_t at, bytes;
  bool live;
} allocation;

struct ptx_heap {
  ptx_buf *buf;
  int64_t limit, used; /* with the overhead */
  int64_t next, top;   /* place of the next one; nothing was ever there or behind */
  allocation *all;     /* by place; those that are freed, too */
  size_t n, cap;
  sct_ptx_heap sum;
};

bool sct_ptx_heap_new(sct_ptx_memory *m, int64_t limit) {
  if (m->heap != NULL) {
    m->heap->limit = limit > 0 ? limit : m->heap->limit;
    return true;
  }
  const int64_t most = limit > 0 ? limit : DEFAULT_LIMIT;
  const int64_t bytes = most < INT64_C(1) << 31 ? ROUNDS * most + GAP : 2 * most + GAP;
  uint8_t *const host = sct_map_sparse((size_t)bytes + 1);
  uint8_t *const defined = host != NULL ? sct_map_sparse((size_t)bytes + 1) : NULL;
  if (defined == NULL) {
    sct_unmap(host, (size_t)bytes + 1);
    return false;
  }
  ptx_buf *const b = sct_alloc(sizeof *b);
  *b = (ptx_buf){.base = PTX_WINDOW(PTX_WINDOW_HEAP),
                 .bytes = bytes,
                 .keep = UINT64_MAX,
                 .host = host,
                 .defined = defined,
                 .name = sct_strdup("the heap"),
                 .in_pieces = true};
  m->table[PTX_WINDOW_HEAP] = b;
  m->heap = sct_alloc(sizeof *m->heap);
  *m->heap = (ptx_heap){.buf = b, .limit = most, .next = GAP};
  return true;
}

void sct_ptx_heap_free(ptx_heap *heap) {
  if (heap != NULL) {
    sct_free(heap->all);
    sct_free(heap);
  }
}

sct_ptx_heap sct_ptx_heap_of(const sct_ptx_memory *m) {
  return m->heap != NULL ? m->heap->sum : (sct_ptx_heap){0};
}

/* How many allocations begin at `at` or before. */
static size_t count_up_to(const ptx_heap *h, int64_t at) {
  size_t from = 0, to = h->n;
  while (from < to) {
    const size_t mid = (from + to) / 2;
    if (h->all[mid].at <= at) {
      from = mid + 1;
    } else {
      to = mid;
    }
  }
  return from;
}

/* A place for so many bytes from `from` on that no live allocation has; -1: none up to the end of
 * the window. */
static int64_t find_place(const ptx_heap *h, int64_t from, int64_t bytes, int64_t align) {
  int64_t at = (from + align - 1) / align * align;
  size_t i = count_up_to(h, at);
  for (i -= i > 0; i < h->n && h->all[i].at < at + bytes + GAP; i++) {
    const int64_t end = h->all[i].at + h->all[i].bytes + GAP;
    if (h->all[i].live && end > at) {
      at = (end + align - 1) / align * align;
    }
  }
  return at + bytes <= h->buf->bytes - GAP ? at : -1;
}

/* Puts the allocation in its place in the list; freed ones whose bytes it takes are forgotten. */
static void insert(ptx_heap *h, int64_t at, int64_t bytes) {
  size_t first = count_up_to(h, at), last = first;
  while (first > 0 && h->all[first - 1].at + h->all[first - 1].bytes + GAP > at) {
    first--;
  }
  while (last < h->n && h->all[last].at < at + bytes + GAP) {
    last++;
  }
  SCT_GROW(h->all, h->n, h->cap);
  memmove(&h->all[first + 1], &h->all[last], sizeof *h->all * (h->n - last));
  h->n = h->n - (last - first) + 1;
  h->all[first] = (allocation){.at = at, .bytes = bytes, .live = true};
}

/* Zeroes bytes of a sparse mapping: whole pages of many are given back. */
static void clear(void *from, size_t bytes) {
  uint8_t *const p = from;
  const size_t head = (PAGE - (uintptr_t)p % PAGE) % PAGE;
  if (bytes < 16 * PAGE) {
    memset(p, 0, bytes);
    return;
  }
  const size_t pages = (bytes - head) / PAGE * PAGE;
  memset(p, 0, head);
  sct_map_forget(p + head, pages);
  memset(p + head + pages, 0, bytes - head - pages);
}

/* What was there before means nothing. */
static void make_fresh(const ptx_exec *x, const ptx_buf *b, int64_t at, int64_t bytes) {
  clear(b->defined + at, (size_t)bytes);
  if (b->last_access != NULL) {
    const int shift = sct_ptx_granule_shift(x->code->min_global_bytes);
    const int64_t first = at >> shift, end = ((at + bytes - 1) >> shift) + 1;
    clear(&b->last_access[first], sizeof *b->last_access * (size_t)(end - first));
  }
}

uint64_t sct_ptx_heap_take(ptx_exec *x, uint64_t bytes, uint64_t align) {
  ptx_heap *const h = x->launch->memory->heap;
  if (bytes == 0 || bytes > (uint64_t)(h->limit - h->used) ||
      (int64_t)bytes + OVERHEAD > h->limit - h->used || align > 4096) {
    h->sum.refused += bytes > 0;
    return 0;
  }
  int64_t at = find_place(h, h->next, (int64_t)bytes, (int64_t)align);
  at = at < 0 ? find_place(h, GAP, (int64_t)bytes, (int64_t)align) : at;
  if (at < 0) {
    h->sum.refused++;
    return 0;
  }
  insert(h, at, (int64_t)bytes);
  if (at < h->top) {
    make_fresh(x, h->buf, at, (int64_t)bytes);
  }
  h->next = at + (int64_t)bytes + GAP;
  h->top = h->next > h->top ? h->next : h->top;
  h->used += (int64_t)bytes + OVERHEAD;
  h->sum.n++;
  h->sum.bytes += (int64_t)bytes;
  return h->buf->base + (uint64_t)at;
}

/* The allocation that the address lies in or behind; NULL: none. */
static allocation *before(const ptx_heap *h, uint64_t address) {
  const size_t n = count_up_to(h, (int64_t)(address - h->buf->base));
  return n > 0 ? &h->all[n - 1] : NULL;
}

bool sct_ptx_heap_give(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address) {
  ptx_heap *const h = x->launch->memory->heap;
  if (address == 0) {
    return true;
  }
  const bool near = address >> PTX_WINDOW_SHIFT == PTX_WINDOW_HEAP;
  allocation *const a = near ? before(h, address) : NULL;
  if (a == NULL || h->buf->base + (uint64_t)a->at != address) {
    return sct_ptx_fault(x, u, SCT_PTX_BAD_FREE, lane, address,
                         "frees 0x%llx, which malloc did not give", (unsigned long long)address);
  }
  if (!a->live) {
    return sct_ptx_fault(x, u, SCT_PTX_BAD_FREE, lane, address,
                         "frees an allocation of %lld bytes a second time", (long long)a->bytes);
  }
  a->live = false;
  h->used -= a->bytes + OVERHEAD;
  h->sum.n--;
  h->sum.bytes -= a->bytes;
  return true;
}

bool sct_ptx_heap_holds(const sct_ptx_memory *m, uint64_t address, int bytes) {
  const allocation *const a = before(m->heap, address);
  const int64_t at = (int64_t)(address - m->heap->buf->base);
  return a != NULL && a->live && at + bytes <= a->at + a->bytes;
}

void sct_ptx_heap_fault(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, int lane) {
  const ptx_heap *const h = x->launch->memory->heap;
  const uint64_t address = acc->addr[lane];
  const int64_t at = (int64_t)(address - h->buf->base);
  const allocation *a = before(h, address);
  if (a == NULL) {
    sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, lane, address,
                  "%s %d bytes before all that malloc gave", sct_ptx_verb(acc->dir), acc->width);
    return;
  }
  if (a + 1 < h->all + h->n && at > a->at + a->bytes + GAP / 2) { /* nearer to the next one */
    a++;
  }
  const bool inside = at >= a->at && at < a->at + a->bytes;
  sct_ptx_fault(x, u, inside && !a->live ? SCT_PTX_USE_AFTER_FREE : SCT_PTX_OUT_OF_BOUNDS, lane,
                address, "%s %d bytes at offset %lld of an allocation of %lld bytes%s",
                sct_ptx_verb(acc->dir), acc->width, (long long)(at - a->at), (long long)a->bytes,
                a->live ? "" : " that was freed before");
}
