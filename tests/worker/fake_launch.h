/* fake_launch - what the fake GPU makes of the arguments of a launch. */
#ifndef SCT_TESTS_FAKE_LAUNCH_H
#define SCT_TESTS_FAKE_LAUNCH_H

#include "worker/worker_backend.h"

#include <string.h>

static inline bool fake_is_argument(const sct_launch *launch, const uint8_t *p) {
  for (int k = 0; k < launch->n_args; k++) {
    if (launch->args[k].bytes == sizeof(uint64_t) && sct_host(launch->args[k].value[0]) == p) {
      return true;
    }
  }
  return false;
}

/* Launches a kernel with two arrays without an expected output: it copies. */
static inline void fake_copy_arrays(const sct_launch *launch) {
  const sct_arg *arrays[2];
  int n = 0;
  for (int k = 0; k < launch->n_args; k++) {
    const sct_arg *arg = &launch->args[k];
    if (arg->is_buffer && !arg->is_workspace) {
      arrays[n < 2 ? n : 1] = arg;
      n++;
    }
  }
  if (n == 2 && !arrays[1]->read_only) {
    const int64_t from = arrays[0]->buffer_bytes, to = arrays[1]->buffer_bytes;
    memcpy(sct_host(arrays[1]->value[0]), sct_host(arrays[0]->value[0]),
           (size_t)(from < to ? from : to));
  }
}

#endif
