/* compile_fixture - sources, temporary folders and a captured log for the tests of this folder. A
 * test is its own compile worker: its main() begins with FX_WORKER. */
#ifndef COMPILE_FIXTURE_H
#define COMPILE_FIXTURE_H

#include "compile/compile.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FX_WORKER(argc, argv)                                                                      \
  if ((argc) > 1 && strcmp((argv)[1], SCT_COMPILE_WORKER_ARG) == 0) {                              \
    return sct_compile_worker_main((argc), (argv));                                                \
  }

/* A map kernel; `tag` makes sources differ without changing the code. */
static inline char *fx_map_source(int tag, const char *expression) {
  char *text = NULL;
  if (asprintf(&text,
               "// variant %d\n"
               "static __device__ float f(float x) {\n"
               "  return %s;\n"
               "}\n"
               "__global__ void map(const float *a, float *b, long long n) {\n"
               "  const long long i = blockIdx.x * 256LL + threadIdx.x;\n"
               "  if (i < n) { b[i] = f(a[i]); }\n"
               "}\n",
               tag, expression) < 0) {
    abort();
  }
  return text;
}

static inline sct_compiler *fx_compiler(const sct_compile_opts *opts) {
  sct_error err = {0};
  sct_compiler *compiler = NULL;
  const sct_status status = sct_compiler_new(&compiler, opts, &err);
  if (status != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return compiler;
}

static inline void fx_run(sct_compiler *compiler, const sct_compile_unit *units, int n,
                          sct_compiled *results) {
  sct_error err = {0};
  const sct_status status = sct_compiler_run(compiler, units, n, results, NULL, NULL, &err);
  if (status != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

/* Compiles one source without a cache; the caller frees *compiler and *result. */
static inline sct_compiled fx_one(sct_compiler **compiler, const char *source, const char *kernel) {
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1};
  const sct_compile_unit unit = {source, kernel, false};
  sct_compiled result;
  *compiler = fx_compiler(&opts);
  fx_run(*compiler, &unit, 1, &result);
  return result;
}

/* ---- folders */

static inline void fx_temp_dir(char out[64]) {
  assert_int_equal(scratch_make(out, 64, "compile"), 0);
}

static inline void fx_remove_dir(const char *path) {
  (void)scratch_remove(path);
}

/* ---- what goes to stderr */

typedef struct fx_capture {
  int saved;
  FILE *file;
} fx_capture;

static inline void fx_capture_start(fx_capture *c) {
  (void)fflush(stderr);
  c->saved = dup(STDERR_FILENO);
  c->file = tmpfile();
  assert_true(c->saved >= 0 && c->file != NULL);
  assert_true(dup2(fileno(c->file), STDERR_FILENO) >= 0);
}

/* Text of the capture; free() it. */
static inline char *fx_capture_end(fx_capture *c) {
  (void)fflush(stderr);
  (void)dup2(c->saved, STDERR_FILENO);
  (void)close(c->saved);
  const long n = (fseek(c->file, 0, SEEK_END), ftell(c->file));
  char *text = calloc((size_t)n + 1, 1);
  rewind(c->file);
  if (text == NULL || fread(text, 1, (size_t)n, c->file) != (size_t)n) {
    abort();
  }
  (void)fclose(c->file);
  return text;
}

static inline int fx_count(const char *text, const char *what) {
  int n = 0;
  for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
    ++n;
  }
  return n;
}

#endif
