/* A folder of compiled kernels that executables of tests share, and the builds under test do too:
 * its entries are named by what they depend on (source, options and version of NVRTC), so who was
 * there first changes no result. CTest names it; run by hand, a test has one of its own. Tests of
 * the cache itself, and of what happens without it, do not use it. */
#ifndef TESTS_SHARED_CACHE_H
#define TESTS_SHARED_CACHE_H

#include <stdlib.h>

static inline const char *shared_cache(const char *own) {
  const char *shared = getenv("SCT_TEST_CACHE");
  return shared && *shared ? shared : own;
}

#endif
