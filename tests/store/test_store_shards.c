/* A thousand shards of one space: merging them, 300 at a time as `submit` has it, takes time
 * in proportion to how many there are (figures in docs/fleet.md: set SCT_SHARDS to 250, 500, ...).
 */
#include "store_fixture.h"

#include <time.h>

#define N_COMMON 5   /* candidates that are in every shard */
#define N_OWN    50  /* and those of its own */
#define N_BATCH  300 /* stores that are open at a time */

static double processor_s(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

static char *text_of(const char *text) {
  return (char *)(uintptr_t)text;
}

static void put(sct_store *s, const sct_row_run *run, int tag) {
  char hash[32], label[32];
  double samples[] = {1000 + tag, 1001 + tag, 999 + tag};
  (void)snprintf(hash, sizeof hash, "%s%06d", tag < N_COMMON ? "common" : "own", tag);
  (void)snprintf(label, sizeof label, "direct t%d", tag);
  sct_row_candidate c = {.problem = run->problem,
                         .source_hash = hash,
                         .label = label,
                         .strategy = text_of("direct"),
                         .axes = text_of("{\"threads\":256}"),
                         .source = text_of("void k() {}"),
                         .registers = 32};
  sct_row_outcome o = {.run = run->id,
                       .outcome = text_of("ok"),
                       .times.median_ns = 1000 + tag,
                       .times.samples_ns = samples,
                       .times.n_samples = 3,
                       .degree = 1.0,
                       .measured = text_of("2026-01-01T00:00:00.000Z")};
  FX_OK(sct_store_put_result(s, &c, &o, true, &err));
}

/* All are copies of the first one whose own candidates have other sources. */
static void make_first(const char *path) {
  sct_store *const s = fx_open(path, false);
  const sct_row_run run = fx_run(s);
  for (int tag = 0; tag < N_COMMON + N_OWN; tag++) {
    put(s, &run, tag);
  }
  sct_store_close(s);
}

static void make_shard(const fixture *f, const sct_str *first, int k) {
  char text[256], path[160];
  sqlite3 *db = NULL;
  (void)snprintf(path, sizeof path, "%s/share-%d.db", f->dir, k);
  FILE *const file = fopen(path, "w"); /* need not wait for the disk */
  assert_non_null(file);
  assert_int_equal(fwrite(first->data, 1, first->len, file), first->len);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  (void)snprintf(text, sizeof text,
                 "PRAGMA synchronous = OFF; UPDATE candidate SET source_hash = source_hash || '.%d'"
                 " WHERE source_hash LIKE 'own%%'",
                 k);
  assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void merge_batch(const fixture *f, int first, int n) {
  sct_store *from[N_BATCH], *const to = fx_open(f->path, false);
  for (int k = 0; k < n; k++) {
    char path[160];
    (void)snprintf(path, sizeof path, "%s/share-%d.db", f->dir, first + k);
    from[k] = fx_open(path, true);
  }
  FX_OK(sct_store_merge(to, from, n, &err));
  for (int k = 0; k < n; k++) {
    sct_store_close(from[k]);
  }
  sct_store_close(to);
}

static void a_thousand_shards_are_merged(void **state) {
  const fixture *const f = *state;
  const char *const asked = getenv("SCT_SHARDS");
  const int n = asked ? atoi(asked) : 1000;
  sct_str first = {0};
  char path[160];
  (void)snprintf(path, sizeof path, "%s/first.db", f->dir);
  make_first(path);
  FX_OK(sct_file_read(&first, path, &err));
  for (int k = 0; k < n; k++) {
    make_shard(f, &first, k);
  }
  sct_str_free(&first);
  const double begun = processor_s();
  for (int k = 0; k < n; k += N_BATCH) {
    merge_batch(f, k, n - k < N_BATCH ? n - k : N_BATCH);
  }
  print_message("%d shards, %d outcomes: merged in %.2f s of a processor\n", n,
                N_COMMON + n * N_OWN, processor_s() - begun);
  sct_store *const s = fx_open(f->path, true);
  sct_row_run run = {0};
  sct_row_run *runs = NULL;
  sct_row_result *rows = NULL;
  int n_runs = 0, n_rows = 0;
  FX_OK(sct_store_runs(s, &kept_rows, 1, 0, &runs, &n_runs, &err));
  assert_int_equal(n_runs, 1);
  assert_int_equal(runs[0].n_candidates, N_COMMON + n * N_OWN);
  run = runs[0];
  FX_OK(sct_store_results(s, &kept_rows, run.id, false, &rows, &n_rows, &err));
  assert_int_equal(n_rows, N_COMMON + n * N_OWN);
  FX_OK(sct_store_earlier(s, &kept_rows, run.id, &rows, &n_rows, &err));
  assert_int_equal(n_rows, 0); /* the common ones say the same in all */
  sct_store_close(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_thousand_shards_are_merged, fx_setup, fx_teardown),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sct_arena_free(&kept_rows);
  return failed;
}
