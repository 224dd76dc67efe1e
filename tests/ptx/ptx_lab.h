/* ptx_lab - a CUDA file of kernels K(name) that are wrong on purpose, compiled; lines that end in a
 * comment with "here" are where the diagnosis belongs. */
#ifndef TESTS_PTX_LAB_H
#define TESTS_PTX_LAB_H

#include "nvrtc_text.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct lab {
  sct_str cuda;
  sct_ptx_module *module;
} lab;

/* For a group's setup: tests/ptx/NAME for "sm_90" or the like. */
static inline int lab_setup(void **state, const char *name, const char *arch) {
  static lab l;
  l = (lab){.module = NULL};
  sct_error err = {0};
  char path[512];
  snprintf(path, sizeof path, "%s/ptx/%s", SCT_TESTS_DIR, name);
  if (sct_file_read(&l.cuda, path, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  char *ptx = nvrtc_ptx(sct_str_c(&l.cuda), name, arch, NULL);
  assert_non_null(ptx);
  if (sct_ptx_parse(&l.module, ptx, name, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  free(ptx);
  *state = &l;
  return 0;
}

static inline int lab_teardown(void **state) {
  lab *l = *state;
  sct_str_free(&l->cuda);
  sct_ptx_module_free(l->module);
  return 0;
}

/* Where the kernel's text begins, and its end: on the same line, at a brace in the first column, or
 * where the next kernel begins. */
static inline const char *lab_kernel(const lab *l, const char *kernel, const char **end) {
  char head[64];
  const char *cuda = sct_str_c(&l->cuda);
  snprintf(head, sizeof head, "K(%s)", kernel);
  const char *at = strstr(cuda, head);
  if (at == NULL) { /* written out, with parameters of its own */
    snprintf(head, sizeof head, "void %s(", kernel);
    at = strstr(cuda, head);
  }
  assert_non_null(at);
  const char *brace = strstr(at, "\n}"), *next = strstr(at, "\nK("), *eol = strchr(at, '\n');
  *end = next == NULL || (brace != NULL && brace < next) ? brace : next;
  if (eol != NULL && memchr(at, '}', (size_t)(eol - at)) != NULL) {
    *end = eol + 1;
  }
  assert_non_null(*end);
  return at;
}

/* Whether the kernel's text marks this line; true if it marks none. */
static inline bool lab_marks(const lab *l, const char *kernel, int line) {
  const char *cuda = sct_str_c(&l->cuda), *end = NULL, *at = lab_kernel(l, kernel, &end);
  bool any = false;
  for (const char *here = strstr(at, " here\n"); here != NULL && here < end;
       here = strstr(here + 1, " here\n")) {
    int n = 1;
    for (const char *p = cuda; p < here; p++) {
      n += *p == '\n';
    }
    any = true;
    if (n == line) {
      return true;
    }
  }
  return !any;
}

#endif
