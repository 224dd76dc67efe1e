/* store_fixture - a temporary folder with a store, and rows to put into it. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "scratch.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

/* What tests have read: it stays. */
__attribute__((unused)) static sct_arena kept_rows;

#define FX_OK(call)                                                                                \
  do {                                                                                             \
    sct_error err = {0};                                                                           \
    if ((call) != SCT_OK) {                                                                        \
      fail_msg("%s:%d: %s", __FILE__, __LINE__, err.text);                                         \
    }                                                                                              \
  } while (0)

typedef struct fixture {
  char dir[64];
  char path[128]; /* of the store; not made yet */
} fixture;

static inline int fx_setup(void **state) {
  fixture *const f = calloc(1, sizeof(*f));
  assert_non_null(f);
  assert_int_equal(scratch_make(f->dir, sizeof(f->dir), "store"), 0);
  (void)snprintf(f->path, sizeof(f->path), "%s/deep/er/store.db", f->dir);
  *state = f;
  return 0;
}

static inline int fx_teardown(void **state) {
  fixture *const f = *state;
  (void)scratch_remove(f->dir);
  free(f);
  return 0;
}

static inline sct_store *fx_open(const char *path, bool read_only) {
  sct_store *s = NULL;
  FX_OK(sct_store_open(&s, path, read_only, &err));
  return s;
}

/* Puts a problem, a device and a run (the same ones each time); returns the run. */
static inline sct_row_run fx_run(sct_store *s) {
  sct_row_problem problem = {.name = "shift",
                             .spec_hash = "00ff",
                             .spec_file = "shift.lua",
                             .canonical = "kernel shift",
                             .signature = "{\"name\":\"shift\"}"};
  sct_row_device device = {.name = "NVIDIA H200", .uuid = "GPU-1", .cc_major = 9};
  FX_OK(sct_store_put_problem(s, &problem, &err));
  FX_OK(sct_store_put_device(s, &device, &err));
  sct_row_run run = {.problem = problem.id,
                     .device = device.id,
                     .size_label = "i=1000",
                     .extents = "{\"i\":1000}",
                     .read_bytes = 4000,
                     .write_bytes = 4000,
                     .started = "2024-06-11T10:00:00Z"};
  FX_OK(sct_store_put_run(s, &run, &err));
  return run;
}

/* Puts a result whose every value follows from `tag`. */
static inline sct_status fx_put(sct_store *s, const sct_row_run *run, int tag, sct_id *outcome_id,
                                sct_error *err) {
  char hash[32];
  char label[32];
  char source[256];
  double samples[11];
  for (int i = 0; i < SCT_COUNT(samples); ++i) {
    samples[i] = 1000.0 * tag + i;
  }
  (void)snprintf(hash, sizeof(hash), "hash%06d", tag);
  (void)snprintf(label, sizeof(label), "direct t%d", tag);
  (void)snprintf(source, sizeof(source), "__global__ void k%d() {}\n%0200d\n", tag, tag);
  sct_row_candidate c = {.problem = run->problem,
                         .source_hash = hash,
                         .label = label,
                         .strategy = "direct",
                         .source = source,
                         .kernel = "k",
                         .registers = tag};
  sct_row_outcome o = {.run = run->id,
                       .outcome = "ok",
                       .times.median_ns = 1000.0 * tag + 5,
                       .times.samples_ns = samples,
                       .times.n_samples = SCT_COUNT(samples)};
  const sct_status status = sct_store_put_result(s, &c, &o, false, err);
  if (outcome_id != NULL) {
    *outcome_id = o.id;
  }
  return status;
}

static inline int fx_count_results(sct_store *s, const sct_row_run *run) {
  sct_row_result *rows = NULL;
  int n = 0;
  FX_OK(sct_store_results(s, &kept_rows, run->id, true, &rows, &n, &err));
  return n;
}

/* Runs SQL on the file behind the store's back. */
static inline void fx_sql(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  char *text = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK) {
    fail_msg("%s: %s", sql, text);
  }
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The first column of the first row of an SQL query, as text; free() it. */
static inline char *fx_ask(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  sqlite3_stmt *stmt = NULL;
  char *text = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  text = strdup((const char *)sqlite3_column_text(stmt, 0));
  assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
  return text;
}

static inline void fx_check_integrity(const char *path) {
  char *text = fx_ask(path, "PRAGMA integrity_check");
  assert_string_equal(text, "ok");
  free(text);
}

/* A whole file; free() it. */
static inline char *fx_bytes(const char *path, size_t *n) {
  FILE *const file = fopen(path, "rb");
  assert_non_null(file);
  struct stat st;
  assert_int_equal(fstat(fileno(file), &st), 0);
  *n = (size_t)st.st_size;
  char *const data = malloc(*n + 1);
  assert_non_null(data);
  assert_int_equal(fread(data, 1, *n, file), *n);
  assert_int_equal(fclose(file), 0);
  return data;
}

static inline void fx_write(const char *path, const char *data, size_t n) {
  FILE *const file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

#endif
