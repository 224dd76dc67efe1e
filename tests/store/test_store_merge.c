/* Merging, exporting and importing: the result does not depend on order or repetition, nothing that
 * was measured is lost, and what is malformed changes nothing. */
#include "store_fixture.h"

#include <time.h>

static char *text_of(const char *text) {
  return (char *)(uintptr_t)text;
}

static const char *shard_path(const fixture *f, const char *name) {
  static char paths[8][160];
  static int k;
  char *const path = paths[k++ % 8];
  (void)snprintf(path, sizeof(paths[0]), "%s/%s.db", f->dir, name);
  return path;
}

/* ---- shards ---- */

/* Puts outcome `tag` with the samples `base`, `base` + 1, measured at second `when`. */
static sct_id put(sct_store *s, const sct_row_run *run, int tag, double base, int when,
                  const char *outcome) {
  char hash[32], label[32], measured[64];
  double samples[3] = {base + 1, base, base + 2};
  (void)snprintf(hash, sizeof(hash), "hash%06d", tag);
  (void)snprintf(label, sizeof(label), "direct t%d", tag);
  (void)snprintf(measured, sizeof(measured), "2025-01-01T00:00:%02d.000Z", when);
  sct_row_candidate c = {.problem = run->problem,
                         .source_hash = hash,
                         .label = label,
                         .strategy = text_of("direct"),
                         .axes = text_of("{\"threads\":256}"),
                         .source = text_of("void \"k\"() {}\n\t\\ \xc3\xa9"),
                         .registers = tag};
  sct_row_outcome o = {.run = run->id,
                       .outcome = text_of(outcome),
                       .times.median_ns = base + 1,
                       .times.samples_ns = samples,
                       .times.n_samples = 3,
                       .degree = 1.0 / 3.0,
                       .times.copies = 9000000000,
                       .race = text_of("ab.1"),
                       .measured = measured};
  FX_OK(sct_store_put_result(s, &c, &o, true, &err));
  return o.id;
}

/* Shard k of 4: some rows of its own, some that others have too, alike or not. */
static void make_shard(const fixture *f, int k) {
  char name[16], when[40];
  (void)snprintf(name, sizeof(name), "shard%d", k);
  (void)snprintf(when, sizeof(when), "2025-01-02T00:00:%02dZ", k % 3);
  sct_store *const s = fx_open(shard_path(f, name), false);
  sct_row_run run = fx_run(s);
  const sct_id own = put(s, &run, 10 + k, 100 + k, k, "ok");
  (void)put(s, &run, 1, 50, 30 + k, "ok"); /* equal in all stores, at other times */
  (void)put(s, &run, 2, 60 + k, 40 - k, k == 2 ? "wrong_result" : "ok"); /* shard 0 is latest */
  (void)put(s, &run, 3, 70 + k % 2, 20, "ok");                           /* equally late */
  if (k == 1) {
    (void)put(s, &run, 3, 75, 21, "ok"); /* and once more */
  }
  run.winner = own;
  run.naive = own;
  run.noise = 0.01 * k;
  run.finished = when;
  run.conditions = text_of("{\"seed\":1}");
  FX_OK(sct_store_finish_run(s, &run, &err));
  sct_store_close(s);
}

static char *export_of(const char *path) {
  sct_str out = {0};
  sct_store *const s = fx_open(path, true);
  FX_OK(sct_store_export(s, &out, &err));
  sct_store_close(s);
  return out.data;
}

/* Merges the shards of `order` into a fresh store and returns its export. */
static char *merged(const fixture *f, const int *order, int n) {
  const char *const out = shard_path(f, "out");
  sct_store *from[8];
  char name[16];
  (void)remove(out);
  sct_store *const to = fx_open(out, false);
  for (int i = 0; i < n; ++i) {
    (void)snprintf(name, sizeof(name), "shard%d", order[i]);
    from[i] = fx_open(shard_path(f, name), true);
  }
  FX_OK(sct_store_merge(to, from, n, &err));
  for (int i = 0; i < n; ++i) {
    sct_store_close(from[i]);
  }
  sct_store_close(to);
  fx_check_integrity(out);
  return export_of(out);
}

static void every_order_gives_the_same_bytes(void **state) {
  const fixture *const f = *state;
  for (int k = 0; k < 4; ++k) {
    make_shard(f, k);
  }
  const int first[] = {0, 1, 2, 3};
  char *const expected = merged(f, first, 4);
  assert_non_null(strstr(expected, "hash000013"));
  int n_orders = 0;
  for (int code = 0; code < 256; ++code) {
    const int order[] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3};
    unsigned seen = 0;
    for (int i = 0; i < 4; ++i) {
      seen |= 1U << order[i];
    }
    if (seen == 15) {
      char *const text = merged(f, order, 4);
      assert_string_equal(text, expected);
      sct_free(text);
      ++n_orders;
    }
  }
  assert_int_equal(n_orders, 24);
  const int twice[] = {2, 0, 2, 1, 3, 0, 3};
  char *const again = merged(f, twice, 7);
  assert_string_equal(again, expected);
  sct_free(again);
  sct_free(expected);
}

/* (a + b) + (c + d), and a store that is merged into itself. */
static void groups_and_itself_give_the_same_bytes(void **state) {
  const fixture *const f = *state;
  for (int k = 0; k < 4; ++k) {
    make_shard(f, k);
  }
  const int all[] = {0, 1, 2, 3}, low[] = {1, 0}, high[] = {3, 2};
  char *const expected = merged(f, all, 4);
  sct_free(merged(f, low, 2));
  assert_int_equal(rename(shard_path(f, "out"), shard_path(f, "shard5")), 0);
  sct_free(merged(f, high, 2));
  assert_int_equal(rename(shard_path(f, "out"), shard_path(f, "shard6")), 0);
  const int groups[] = {6, 5};
  char *const text = merged(f, groups, 2);
  assert_string_equal(text, expected);
  sct_free(text);
  const char *const out = shard_path(f, "out");
  sct_store *const to = fx_open(out, false);
  sct_store *const from = fx_open(out, true);
  FX_OK(sct_store_merge(to, &from, 1, &err));
  sct_store_close(from);
  sct_store_close(to);
  char *const same = export_of(out);
  assert_string_equal(same, expected);
  sct_free(same);
  sct_free(expected);
}

static void the_latest_stands_and_nothing_is_lost(void **state) {
  const fixture *const f = *state;
  for (int k = 0; k < 4; ++k) {
    make_shard(f, k);
  }
  const int all[] = {3, 1, 0, 2};
  sct_free(merged(f, all, 4));
  sct_store *const s = fx_open(shard_path(f, "out"), true);
  sct_row_result *rows = NULL;
  sct_row_run *runs = NULL;
  int n = 0;
  FX_OK(sct_store_results(s, &kept_rows, 1, true, &rows, &n, &err));
  assert_int_equal(n, 7);
  for (int i = 0; i < n; ++i) {
    if (strcmp(rows[i].candidate.label, "direct t2") == 0) {
      assert_true(rows[i].outcome.times.samples_ns[1] == 60); /* of shard 0 */
    }
    if (strcmp(rows[i].candidate.label, "direct t3") == 0) {
      assert_true(rows[i].outcome.times.samples_ns[1] == 75);
    }
  }
  FX_OK(sct_store_earlier(s, &kept_rows, 1, &rows, &n, &err));
  assert_int_equal(n, 3 + 2); /* of t2: shards 1 to 3; of t3: both of second 20 */
  FX_OK(sct_store_runs(s, &kept_rows, 1, 0, &runs, &n, &err));
  assert_int_equal(n, 1);
  assert_int_equal(runs[0].n_candidates, 7);
  assert_int_equal(runs[0].n_failed, 0);
  char *label = fx_ask(shard_path(f, "out"), "SELECT c.label FROM run r JOIN outcome o ON o.id = "
                                             "r.winner JOIN candidate c ON c.id = o.candidate");
  assert_string_equal(label, "direct t12"); /* of the shard that ended last */
  free(label);
  sct_store_close(s);
}

/* Damage that SQLite does not see, and files that are no store, change nothing. */
static void what_does_not_fit_together_is_refused(void **state) {
  const fixture *const f = *state;
  make_shard(f, 0);
  make_shard(f, 1);
  const int one[] = {0};
  char *const before = merged(f, one, 1);
  const char *const bad = shard_path(f, "shard1");
  sct_store *const to = fx_open(shard_path(f, "out"), false);
  sct_store *const from = fx_open(bad, true);
  /* an open store has been looked at, so that it becomes so later */
  fx_sql(bad, "PRAGMA foreign_keys = OFF; UPDATE outcome SET candidate = 99 WHERE id = 2");
  sct_error err = {0};
  assert_int_equal(sct_store_merge(to, &from, 1, &err), SCT_EDATA);
  assert_non_null(strstr(err.text, "row 2 of 'outcome' refers to a row of 'candidate'"));
  sct_store_close(from);
  sct_store_close(to);
  char *const after = export_of(shard_path(f, "out"));
  assert_string_equal(after, before);
  sct_free(after);
  sct_free(before);
}

/* A winner that failed when it was measured later is withheld from readers, and kept in the store.
 */
static void a_winner_that_failed_later_is_none(void **state) {
  const fixture *const f = *state;
  make_shard(f, 0);
  sct_store *s = fx_open(shard_path(f, "shard1"), false);
  sct_row_run run = fx_run(s);
  (void)put(s, &run, 10, 1, 59, "wrong_result");
  sct_store_close(s);
  const int both[] = {0, 1};
  sct_free(merged(f, both, 2));
  s = fx_open(shard_path(f, "out"), true);
  sct_row_run *runs = NULL;
  int n = 0;
  FX_OK(sct_store_runs(s, &kept_rows, 1, 0, &runs, &n, &err));
  assert_int_equal(runs[0].winner, 0);
  sct_store_close(s);
  char *winner = fx_ask(shard_path(f, "out"), "SELECT winner > 0 FROM run");
  assert_string_equal(winner, "1");
  free(winner);
}

static void import_of(const fixture *f, const char *store, const char *text) {
  const char *const file = shard_path(f, "file.json");
  fx_write(file, text, strlen(text));
  sct_store *const s = fx_open(store, false);
  FX_OK(sct_store_import(s, file, &err));
  sct_store_close(s);
}

static void an_export_reads_back_byte_for_byte(void **state) {
  const fixture *const f = *state;
  for (int k = 0; k < 4; ++k) {
    make_shard(f, k);
  }
  const int all[] = {0, 1, 2, 3};
  char *const text = merged(f, all, 4);
  const char *const copy = shard_path(f, "copy");
  for (int times = 0; times < 2; ++times) {
    import_of(f, copy, text);
    char *const back = export_of(copy);
    assert_string_equal(back, text);
    sct_free(back);
  }
  /* imported into a shard it is a merge */
  import_of(f, shard_path(f, "shard2"), text);
  char *const joined = export_of(shard_path(f, "shard2"));
  assert_string_equal(joined, text);
  sct_free(joined);
  sct_free(text);
}

/* 6,400 rows: the time is printed, not evaluated. */
static void many_rows_are_merged(void **state) {
  const fixture *const f = *state;
  sct_store *const s = fx_open(shard_path(f, "many"), false);
  const sct_row_run run = fx_run(s);
  sct_id id = 0;
  FX_OK(fx_put(s, &run, 1, &id, &err));
  sct_store_close(s);
  fx_sql(
      shard_path(f, "many"),
      "WITH RECURSIVE n(k) AS (SELECT 2 UNION ALL SELECT k + 1 FROM n WHERE k < 6400)"
      " INSERT INTO candidate (problem, source_hash, label, strategy, axes, source, kernel,"
      " launch) SELECT problem, 'h' || k, label || k, strategy, axes, source || k, kernel,"
      " launch FROM candidate, n WHERE candidate.id = 1;"
      "CREATE TEMP TABLE o AS SELECT * FROM outcome;"
      "INSERT INTO outcome SELECT c.id, o.run, c.id, o.outcome, o.detail, o.options, o.registers,"
      " o.spill_bytes, o.shared_bytes, o.median_ns, o.q1_ns, o.q3_ns, "
      "o.min_ns, o.sm_clock_mhz,"
      " o.samples_ns, o.requests_ld, o.sectors_ld, o.sectors_ld_ideal, o.requests_st,"
      " o.sectors_st, o.sectors_st_ideal, o.wavefronts, o.degree, o.coalesced, o.counts_exact,"
      " o.predicted_ns, o.overhead_ns, o.resident_ns, o.launches, "
      "o.copies, o.n_slow, o.race,"
      " o.measured, o.small_size, o.rule, o.share, o.utilisation, o.passes, o.sectors_error,"
      " o.unknown"
      " FROM o, candidate c WHERE c.id > 1");
  struct timespec start, end;
  for (int times = 0; times < 2; ++times) {
    sct_store *const from = fx_open(shard_path(f, "many"), true);
    sct_store *const to = fx_open(shard_path(f, "out"), false);
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    FX_OK(sct_store_merge(to, &from, 1, &err));
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    print_message("merging 6,400 rows, time %d: %.2f s\n", times + 1,
                  (double)(end.tv_sec - start.tv_sec) +
                      (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
    sct_store_close(from);
    sct_store_close(to);
    char *n = fx_ask(shard_path(f, "out"), "SELECT count(*) FROM outcome");
    assert_string_equal(n, "6400");
    free(n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(every_order_gives_the_same_bytes, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(groups_and_itself_give_the_same_bytes, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(the_latest_stands_and_nothing_is_lost, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(what_does_not_fit_together_is_refused, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(a_winner_that_failed_later_is_none, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(an_export_reads_back_byte_for_byte, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(many_rows_are_merged, fx_setup, fx_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
