/* cli_fixture - the program as a subprocess, in a scratch folder with its own store and cache. */
#ifndef CLI_FIXTURE_H
#define CLI_FIXTURE_H

#include "base/base.h"
#include "scratch.h"
#include "shared_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FX_SPECS SCT_ROOT_DIR "/tuning/kernels/"

typedef struct fx_result {
  int exit_code; /* 128 + signal if it was killed */
  sct_str out, err;
} fx_result;

static char fx_folder[64]; /* scratch; the working folder of every run */
static sct_arena fx_arena; /* of fx_path's strings */

/* ---- the scratch folder ---- */

/* The shared compile cache, or FOLDER/cache. */
static inline void fx_use_cache(bool shared) {
  char own[96];
  snprintf(own, sizeof own, "%s/cache", fx_folder);
  setenv("XDG_CACHE_HOME", shared ? shared_cache(own) : own, 1);
}

/* Group setup: a scratch folder; store and home lie in it, colour is off. */
static inline int fx_setup(void **state) {
  (void)state;
  assert_int_equal(scratch_make(fx_folder, sizeof fx_folder, "cli"), 0);
  char path[96];
  snprintf(path, sizeof path, "%s/data", fx_folder);
  setenv("XDG_DATA_HOME", path, 1);
  fx_use_cache(true);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  setenv("SECTILE_NO_RANGE", "1", 1); /* it takes time, and has tests of its own */
  return 0;
}

static inline int fx_teardown(void **state) {
  (void)state;
  sct_arena_free(&fx_arena);
  return scratch_remove(fx_folder);
}

/* "FOLDER/name", valid as long as the folder. */
static inline const char *fx_path(const char *name) {
  const char *path = sct_arena_printf(&fx_arena, "%s/%s", fx_folder, name);
  assert_non_null(path);
  return path;
}

static inline const char *fx_write(const char *name, const char *text) {
  const char *path = fx_path(name);
  sct_error err = {0};
  if (sct_file_write(path, text, strlen(text), &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return path;
}

/* ---- runs ---- */

static inline void fx_free(fx_result *r) {
  sct_str_free(&r->out);
  sct_str_free(&r->err);
  *r = (fx_result){0};
}

static inline void fx_exec_(const char *const *words) {
  char *argv[40] = {(char *)(uintptr_t) "sectile"};
  int n = 1;
  for (; words[n - 1] != NULL && n < SCT_COUNT(argv) - 1; n++) {
    argv[n] = (char *)(uintptr_t)words[n - 1];
  }
  if (chdir(fx_folder) == 0) {
    execv(SCT_PROGRAM, argv);
  }
  perror(SCT_PROGRAM);
  _exit(126);
}

/* Starts the program with stdout and stderr in files of the scratch folder. */
static inline pid_t fx_start(const char *const *words) {
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    const int out = open(fx_path("stdout"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    const int err = open(fx_path("stderr"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(out, 1);
    dup2(err, 2);
    fx_exec_(words);
  }
  return pid;
}

static inline int fx_wait_(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) != pid) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline void fx_finish(fx_result *out, pid_t pid) {
  *out = (fx_result){.exit_code = fx_wait_(pid)};
  sct_error err = {0};
  if (sct_file_read(&out->out, fx_path("stdout"), &err) != SCT_OK ||
      sct_file_read(&out->err, fx_path("stderr"), &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

/* Words end with NULL. Frees what an earlier run left in `out` (zeroed at first). */
static inline void fx_run_list(fx_result *out, const char *const *words) {
  fx_free(out);
  fx_finish(out, fx_start(words));
}
#define fx_run(out, ...) fx_run_list((out), (const char *const[]){__VA_ARGS__, NULL})

/* ---- what came of it ---- */

static inline void fx_show(const fx_result *r) {
  print_error("exit code %d\nstdout: %.3000s\nstderr: %.3000s\n", r->exit_code, sct_str_c(&r->out),
              sct_str_c(&r->err));
}

static inline void fx_expect_(const fx_result *r, int exit_code, const char *in_out,
                              const char *in_err, const char *file, int line) {
  const bool good = r->exit_code == exit_code && (!in_out || strstr(sct_str_c(&r->out), in_out)) &&
                    (!in_err || strstr(sct_str_c(&r->err), in_err));
  if (!good) {
    print_error("expected exit code %d, '%s' in stdout, '%s' in stderr\n", exit_code,
                in_out ? in_out : "", in_err ? in_err : "");
    fx_show(r);
  }
  _assert_true(good, "the outcome of a run", file, line);
}
/* The exit code, and a text that stdout and stderr hold (NULL: any). */
#define fx_expect(r, exit_code, in_out, in_err)                                                    \
  fx_expect_((r), (exit_code), (in_out), (in_err), __FILE__, __LINE__)

/* Replaces the only `from` of `text`. */
static inline void fx_replace(sct_str *text, const char *from, const char *to) {
  sct_str out = {0};
  const char *at = strstr(sct_str_c(text), from);
  if (!at || strstr(at + 1, from)) {
    fail_msg("'%s' does not stand in the file exactly once", from);
  }
  sct_str_append_n(&out, text->data, (size_t)(at - text->data));
  sct_str_append(&out, to);
  sct_str_append(&out, at + strlen(from));
  sct_str_free(text);
  *text = out;
}

static inline json_t *fx_json(const fx_result *r) {
  json_error_t error;
  json_t *doc = json_loads(sct_str_c(&r->out), 0, &error);
  if (!doc) {
    fx_show(r);
    fail_msg("stdout is no JSON: line %d: %s", error.line, error.text);
  }
  return doc;
}

/* "nvcc", or its path; NULL where there is none. */
static inline const char *fx_nvcc(void) {
  static char path[512];
  const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  if (system("command -v nvcc >/dev/null 2>&1") == 0) {
    return "nvcc";
  }
  for (int k = 0; k < SCT_COUNT(homes); k++) {
    snprintf(path, sizeof path, "%s/bin/nvcc", homes[k] ? homes[k] : "");
    if (homes[k] && access(path, X_OK) == 0) {
      return path;
    }
  }
  return NULL;
}

/* Runs nvcc in the scratch folder; shows what it says and fails if it does not succeed or warns. */
static inline void fx_compile(const char *nvcc, const char *arguments) {
  sct_str command = {0}, said = {0};
  sct_error err = {0};
  sct_str_printf(&command, "cd '%s' && '%s' -arch=sm_90 %s >nvcc.log 2>&1", fx_folder, nvcc,
                 arguments);
  const int status = system(sct_str_c(&command));
  assert_int_equal(sct_file_read(&said, fx_path("nvcc.log"), &err), SCT_OK);
  if (status != 0 || said.len > 0) {
    print_error("%s\n%.4000s\n", sct_str_c(&command), sct_str_c(&said));
  }
  assert_int_equal(status, 0);
  assert_int_equal(said.len, 0);
  sct_str_free(&command);
  sct_str_free(&said);
}

#endif
