/* Copies between an array of the host and a ring, as headers do them. */
#include "host/host.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "host_copy.h"

void sct_host_copy(void *to, const void *from, int64_t bytes, bool back) {
  (back ? host_copy_out : host_copy_in)(to, from, bytes);
}
