/* A folder of a test's own, and its removal with all that is in it. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

/* Puts the path of an empty folder, /tmp/sct_NAME_XXXXXX, into `path`. Returns 0, as a setup of
 * cmocka does. */
static inline int scratch_make(char *path, size_t size, const char *name) {
  const int n = snprintf(path, size, "/tmp/sct_%s_XXXXXX", name);
  return n > 0 && (size_t)n < size && mkdtemp(path) ? 0 : -1;
}

static inline int scratch_remove_one_(const char *path, const struct stat *st, int kind,
                                      struct FTW *ftw) {
  (void)st, (void)kind, (void)ftw;
  return remove(path);
}

/* Returns 0 if nothing is left, as a teardown of cmocka does. Links are not followed. */
static inline int scratch_remove(const char *path) {
  return nftw(path, scratch_remove_one_, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
