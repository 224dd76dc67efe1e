/* Memory: the malloc family behind one door, growing arrays, arenas. */
#include "base/base.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool silent;

void sct_memory_end_silently(void) {
  silent = true;
}

void sct_memory_keep_pages(void) {
#ifdef __GLIBC__
  (void)mallopt(M_MMAP_THRESHOLD, 256 << 20);
  (void)mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

/* Nothing here may allocate. */
static _Noreturn void end_refused(size_t bytes) {
  static atomic_flag ending = ATOMIC_FLAG_INIT;
  char size[32], limit[160], line[320];
  while (atomic_flag_test_and_set(&ending)) {
    (void)pause(); /* another thread was refused memory first, and ends the process */
  }
  const bool low = sct_ulimit_text(limit, sizeof limit, SCT_ULIMIT_SPACE, 0) ||
                   sct_ulimit_text(limit, sizeof limit, SCT_ULIMIT_DATA, 0);
  const int n =
      snprintf(line, sizeof line, "sectile: out of memory: %s more were refused; %s\n",
               sct_format_bytes(size, (double)bytes),
               low ? limit : "end other programs or take smaller sizes, and run it again");
  if (!silent && n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) {
    _exit(sct_exit_code(SCT_ENOMEM)); /* there is nobody to tell */
  }
  _exit(sct_exit_code(SCT_ENOMEM)); /* a store is as after a kill: whole */
}

void *sct_alloc(size_t bytes) {
  if (bytes == 0) {
    return NULL;
  }
  void *const p = sct_fault(SCT_FAULT_MALLOC) ? NULL : calloc(1, bytes);
  if (!p) {
    end_refused(bytes);
  }
  sct_fault_live(1);
  return p;
}

void *sct_alloc_sparse(size_t bytes) {
  void *const p = sct_map_sparse(bytes);
  if (!p) {
    end_refused(bytes);
  }
  return p;
}

void *sct_realloc(void *old, size_t bytes) {
  if (bytes == 0) {
    sct_free(old);
    return NULL;
  }
  void *const p = sct_fault(SCT_FAULT_MALLOC) ? NULL : realloc(old, bytes);
  if (!p) {
    end_refused(bytes);
  }
  sct_fault_live(old == NULL);
  return p;
}

void sct_free(void *p) {
  sct_fault_live(p != NULL ? -1 : 0);
  free(p);
}

char *sct_strdup(const char *text) {
  const size_t n = strlen(text) + 1;
  return memcpy(sct_alloc(n), text, n);
}

void sct_grow_(void **ptr, size_t len, size_t *cap, size_t elem_bytes) {
  if (len < *cap) {
    return;
  }
  const size_t want = *cap < 8 ? 8 : *cap * 2;
  if (want > SIZE_MAX / elem_bytes) {
    end_refused(SIZE_MAX);
  }
  void *const bigger = sct_realloc(*ptr, want * elem_bytes);
  memset((char *)bigger + *cap * elem_bytes, 0, (want - *cap) * elem_bytes);
  *ptr = bigger;
  *cap = want;
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
  block->size = bytes;
  block->next = arena->head;
  arena->head = block;
  return block;
}

void *sct_arena_alloc(sct_arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX / 2) {
    end_refused(bytes);
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
  void *p = block->data + block->used;
  block->used += need;
  arena->total_bytes += need;
  return p;
}

char *sct_arena_strndup(sct_arena *arena, const char *text, size_t len) {
  char *copy = sct_arena_alloc(arena, len + 1);
  memcpy(copy, text, len);
  copy[len] = '\0';
  return copy;
}

char *sct_arena_strdup(sct_arena *arena, const char *text) {
  return sct_arena_strndup(arena, text, strlen(text));
}

char *sct_arena_printf(sct_arena *arena, const char *fmt, ...) {
  SCT_SCOPED(sct_str) s = {0};
  SCT_STR_FORMAT(&s, fmt);
  return sct_arena_strdup(arena, sct_str_c(&s));
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
