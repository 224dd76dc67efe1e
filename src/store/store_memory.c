/* SQLite's memory comes through base's door, so that none is refused without an end. */
#include "store/store_internal.h"

#include <pthread.h>
#include <string.h>

/* SQLite asks for the size of a block: it stands in front of it. */
#define HEADER_BYTES 16

static void *resize(void *old, int bytes) {
  unsigned char *const before = old == NULL ? NULL : (unsigned char *)old - HEADER_BYTES;
  unsigned char *const block = sct_realloc(before, (size_t)bytes + HEADER_BYTES);
  memcpy(block, &bytes, sizeof(bytes));
  return block + HEADER_BYTES;
}

static void *memory_new(int bytes) {
  return resize(NULL, bytes);
}

static void memory_free(void *block) {
  sct_free((unsigned char *)block - HEADER_BYTES);
}

static int memory_bytes(void *block) {
  int bytes = 0;
  if (block != NULL) {
    memcpy(&bytes, (unsigned char *)block - HEADER_BYTES, sizeof(bytes));
  }
  return bytes;
}

static int memory_round(int bytes) {
  return (bytes + 7) & ~7;
}

static int memory_init(void *ctx) {
  (void)ctx;
  return SQLITE_OK;
}

static void memory_shutdown(void *ctx) {
  (void)ctx;
}

static void configure(void) {
  static const sqlite3_mem_methods methods = {.xMalloc = memory_new,
                                              .xFree = memory_free,
                                              .xRealloc = resize,
                                              .xSize = memory_bytes,
                                              .xRoundup = memory_round,
                                              .xInit = memory_init,
                                              .xShutdown = memory_shutdown};
  /* Refused if the process has used SQLite before us: then its own allocator serves. */
  (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
  (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS,
                       0); /* statistics are not used: no lock around every block */
#ifdef SCT_FAULTS
  sct_store_faults_init();
#endif
}

void sct_store_memory_init(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, configure);
}
