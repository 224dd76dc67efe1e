/* Memory: the malloc family behind one door, growing arrays, arenas. */
#include "base/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_bool refused;

bool sct_memory_refused(void) {
  return atomic_load(&refused);
}

/* jansson's lexer (2.14) writes past a text that could not grow. So what it is refused comes from a
 * reserve, and sct_memory_refused() ends the work at its next step; the reserve lasts for what is
 * being parsed or printed until then. */
#define RESERVE_BYTES ((size_t)4 << 20)
static _Alignas(16) unsigned char reserve[RESERVE_BYTES];
static atomic_size_t reserve_used;

static void *from_reserve(size_t bytes) {
  const size_t at = bytes > RESERVE_BYTES / 2
                        ? RESERVE_BYTES
                        : atomic_fetch_add(&reserve_used, (bytes + 15) & ~(size_t)15);
  if (at > RESERVE_BYTES - bytes) {
    fputs("sectile: out of memory\n", stderr);
    _exit(sct_exit_code(SCT_ENOMEM)); /* a store is as after a kill: whole */
  }
  return reserve + at;
}

static bool is_reserve(const void *p) {
  const unsigned char *const byte = p;
  return byte >= reserve && byte < reserve + RESERVE_BYTES;
}

/* Notes what became of a request of the kind. */
static void *given(sct_fault_kind kind, void *p, size_t bytes) {
  if (!p && bytes > 0 && kind != SCT_FAULT_LUA && kind != SCT_FAULT_SQLITE) {
    atomic_store(&refused, true);
    return kind == SCT_FAULT_JSON ? from_reserve(bytes) : NULL;
  }
  return p;
}

void *sct_alloc(size_t bytes) {
  void *const p = bytes == 0 || sct_fault(SCT_FAULT_MALLOC) ? NULL : calloc(1, bytes);
  sct_fault_live(p != NULL);
  return given(SCT_FAULT_MALLOC, p, bytes);
}

void *sct_realloc_as(sct_fault_kind kind, void *old, size_t bytes) {
  if (bytes == 0) {
    sct_free(old);
    return NULL;
  }
  void *const p = given(kind, sct_fault(kind) ? NULL : realloc(old, bytes), bytes);
  sct_fault_live(p != NULL && old == NULL);
  return p;
}

void *sct_realloc(void *old, size_t bytes) {
  return sct_realloc_as(SCT_FAULT_MALLOC, old, bytes);
}

void sct_free(void *p) {
  sct_fault_live(p != NULL ? -1 : 0);
  if (is_reserve(p)) {
    return;
  }
  free(p);
}

char *sct_strdup(const char *text) {
  const size_t n = strlen(text) + 1;
  char *copy = sct_alloc(n);
  if (copy) {
    memcpy(copy, text, n);
  }
  return copy;
}

bool sct_grow_(void **ptr, size_t len, size_t *cap, size_t elem_bytes) {
  if (len < *cap) {
    return true;
  }
  const size_t want = *cap < 8 ? 8 : *cap * 2;
  if (want > SIZE_MAX / elem_bytes) {
    return false;
  }
  void *bigger = sct_realloc(*ptr, want * elem_bytes);
  if (!bigger) {
    return false;
  }
  memset((char *)bigger + *cap * elem_bytes, 0, (want - *cap) * elem_bytes);
  *ptr = bigger;
  *cap = want;
  return true;
}

/* ---- arena ------------------------------------------------------------------------------------
 */

/* Blocks grow with what the arena holds: most arenas, one a candidate, stay small. */
#define ARENA_LEAST ((size_t)1024)
#define ARENA_MOST  ((size_t)16384)

typedef struct sct_arena_block {
  struct sct_arena_block *next;
  size_t used, size;
  _Alignas(16) unsigned char data[];
} sct_arena_block;

#ifndef SCT_ARENA_MALLOC
static size_t arena_block_bytes(const sct_arena *arena, size_t need) {
  size_t bytes = arena->total_bytes / 2;
  bytes = bytes < ARENA_LEAST ? ARENA_LEAST : bytes > ARENA_MOST ? ARENA_MOST : bytes;
  return need > bytes ? need : bytes;
}
#endif

static sct_arena_block *arena_add_block(sct_arena *arena, size_t bytes) {
  sct_arena_block *block = sct_alloc(sizeof *block + bytes);
  if (block) {
    block->size = bytes;
    block->next = arena->head;
    arena->head = block;
  }
  return block;
}

void *sct_arena_alloc(sct_arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX / 2) {
    return NULL;
  }
  const size_t need = bytes == 0 ? 16 : (bytes + 15) & ~(size_t)15;
#ifdef SCT_ARENA_MALLOC
  const size_t block_bytes =
      bytes == 0 ? 1 : bytes; /* exact, so that the sanitizers see overruns */
  sct_arena_block *block = arena_add_block(arena, block_bytes);
#else
  sct_arena_block *block = arena->head;
  if (!block || block->size - block->used < need) {
    block = arena_add_block(arena, arena_block_bytes(arena, need));
  }
#endif
  if (!block) {
    return NULL;
  }
  void *p = block->data + block->used;
  block->used += need;
  arena->total_bytes += need;
  return p;
}

char *sct_arena_strndup(sct_arena *arena, const char *text, size_t len) {
  char *copy = sct_arena_alloc(arena, len + 1);
  if (copy) {
    memcpy(copy, text, len);
    copy[len] = '\0';
  }
  return copy;
}

char *sct_arena_strdup(sct_arena *arena, const char *text) {
  return sct_arena_strndup(arena, text, strlen(text));
}

char *sct_arena_printf(sct_arena *arena, const char *fmt, ...) {
  sct_str s = {0};
  va_list args;
  va_start(args, fmt);
  sct_str_vprintf(&s, fmt, args);
  va_end(args);
  char *copy = s.failed ? NULL : sct_arena_strdup(arena, sct_str_c(&s));
  sct_str_free(&s);
  return copy;
}

void sct_arena_free(sct_arena *arena) {
  sct_arena_block *block = arena->head;
  while (block) {
    sct_arena_block *next = block->next;
    sct_free(block);
    block = next;
  }
  *arena = (sct_arena){0};
}
