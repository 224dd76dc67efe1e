/* What the fuzzer does with one input, and what the test of its corpus does again: any text is a
 * manifest or is refused with a message that names a line. */
#ifndef TESTS_COUNT_FUZZ_H
#define TESTS_COUNT_FUZZ_H

#include "count/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Number of cases; -1: refused. */
static inline int count_fuzz_input(const uint8_t *data, size_t size) {
  char path[64];
  sct_count_manifest manifest;
  sct_error err = {0};
  int n = -1;
  const int fd = memfd_create("manifest", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
    abort();
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const sct_status status = sct_count_read(&manifest, path, &err);
  if (status == SCT_OK) {
    n = manifest.n_cases;
    for (int k = 0; k < n; k++) { /* all that a reader may look at */
      const sct_count_case *c = &manifest.cases[k];
      if (c->name == NULL || c->kernel == NULL || c->n_args < 0 || c->line < 1) {
        abort();
      }
      for (int i = 0; i < c->n_args; i++) {
        if (c->args[i].kind == SCT_COUNT_BUFFER &&
            (c->args[i].buffer < 0 || c->args[i].buffer >= manifest.n_buffers)) {
          abort();
        }
      }
    }
    sct_count_manifest_free(&manifest);
  } else if (status != SCT_ESPEC || err.text[0] == '\0') {
    fprintf(stderr, "refused with status %d and \"%s\"\n", (int)status, err.text);
    abort();
  }
  close(fd);
  return n;
}

#endif
