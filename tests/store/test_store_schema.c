/* Stores that older programs wrote: what they hold stays, in whichever way they are opened. */
#include "store_fixture.h"

#include <math.h>

/* ---- the tables as they were, letter for letter ---- */

static const char tables_of_1_and_2[] =
    "CREATE TABLE problem (id INTEGER PRIMARY KEY, spec_hash TEXT NOT NULL, name TEXT "
    "NOT NULL, spec_file TEXT NOT NULL, canonical TEXT NOT NULL, signature TEXT NOT "
    "NULL, UNIQUE (spec_hash)) STRICT;"
    "CREATE TABLE device (id INTEGER PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL, "
    "device_id TEXT NOT NULL, uuid TEXT NOT NULL, driver TEXT NOT NULL, nvrtc TEXT NOT "
    "NULL, tool TEXT NOT NULL, arch TEXT NOT NULL, cc_major INTEGER NOT NULL, cc_minor "
    "INTEGER NOT NULL, is_virtual INTEGER NOT NULL, description TEXT NOT NULL, UNIQUE "
    "(key)) STRICT;"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, problem INTEGER NOT NULL REFERENCES "
    "problem(id), device INTEGER NOT NULL REFERENCES device(id), size_label TEXT NOT "
    "NULL, extents TEXT NOT NULL, read_bytes REAL, write_bytes REAL, ceiling_bytes_s "
    "REAL, noise REAL, n_candidates INTEGER NOT NULL, n_verified INTEGER NOT NULL, "
    "n_failed INTEGER NOT NULL, n_tied INTEGER NOT NULL, started TEXT NOT NULL, "
    "conditions TEXT NOT NULL, winner INTEGER REFERENCES outcome(id), naive INTEGER "
    "REFERENCES outcome(id), UNIQUE (problem, device, size_label)) STRICT;"
    "CREATE TABLE candidate (id INTEGER PRIMARY KEY, problem INTEGER NOT NULL REFERENCES "
    "problem(id), source_hash TEXT NOT NULL, label TEXT NOT NULL, strategy TEXT NOT "
    "NULL, axes TEXT NOT NULL, source TEXT NOT NULL, kernel TEXT NOT NULL, launch TEXT "
    "NOT NULL, UNIQUE (problem, source_hash)) STRICT;";
static const char outcomes_of_1[] =
    "CREATE TABLE outcome (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES "
    "run(id), candidate INTEGER NOT NULL REFERENCES candidate(id), outcome TEXT NOT "
    "NULL, detail TEXT NOT NULL, options TEXT NOT NULL, registers INTEGER NOT NULL, "
    "spill_bytes INTEGER NOT NULL, shared_bytes INTEGER NOT NULL, median_ns REAL, q1_ns "
    "REAL, q3_ns REAL, min_ns REAL, sm_clock_mhz REAL, samples_ns BLOB NOT NULL, "
    "requests_ld REAL, sectors_ld REAL, sectors_ld_ideal REAL, requests_st REAL, "
    "sectors_st REAL, sectors_st_ideal REAL, wavefronts REAL, degree REAL, coalesced "
    "INTEGER NOT NULL, counts_exact INTEGER NOT NULL, UNIQUE (run, candidate)) STRICT;";
static const char outcomes_of_2[] =
    "CREATE TABLE outcome (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES "
    "run(id), candidate INTEGER NOT NULL REFERENCES candidate(id), outcome TEXT NOT "
    "NULL, detail TEXT NOT NULL, options TEXT NOT NULL, registers INTEGER NOT NULL, "
    "spill_bytes INTEGER NOT NULL, shared_bytes INTEGER NOT NULL, median_ns REAL, q1_ns "
    "REAL, q3_ns REAL, min_ns REAL, sm_clock_mhz REAL, samples_ns BLOB NOT NULL, "
    "requests_ld REAL, sectors_ld REAL, sectors_ld_ideal REAL, requests_st REAL, "
    "sectors_st REAL, sectors_st_ideal REAL, wavefronts REAL, degree REAL, coalesced "
    "INTEGER NOT NULL, counts_exact INTEGER NOT NULL, predicted_ns REAL, UNIQUE (run, "
    "candidate)) STRICT;";

static const char rows[] =
    "INSERT INTO problem VALUES (1, 'aa', 'shift', 'shift.lua', 'kernel shift', '{}');"
    "INSERT INTO device VALUES (1, 'k', 'NVIDIA H200', 'cuda:0', 'GPU-1', '570.1', '12.8', '0.1.0',"
    " 'sm_90', 9, 0, 0, '{}');"
    "INSERT INTO run VALUES (1, 1, 1, 'i=8', '{\"i\":8}', 32, 32, 4e12, 0.01, 1, 1, 0, 1,"
    " '2024-06-11T10:00:00Z', '{}', NULL, NULL);"
    "INSERT INTO candidate VALUES (1, 1, 'cc', 'direct t256', 'direct', '{}', 'void k() {}', 'k',"
    " '{}');"
    "INSERT INTO outcome (run, candidate, outcome, detail, options, registers, spill_bytes,"
    " shared_bytes, median_ns, q1_ns, q3_ns, min_ns, sm_clock_mhz, samples_ns, coalesced,"
    " counts_exact) VALUES (1, 1, 'ok', '', '-O3', 32, 0, 0, 1.5, 1, 2, 1, 1980,"
    " x'000000000000f03f0000000000000040', 1, 1);"
    "UPDATE run SET winner = 1, naive = 1;";

static void make_old(const fixture *f, int schema) {
  sct_error err;
  sct_str dir = {0};
  sct_path_dirname(&dir, f->path);
  assert_int_equal(sct_dir_make(sct_str_c(&dir), &err), SCT_OK);
  sct_str_free(&dir);
  fx_write(f->path, "", 0);
  fx_sql(f->path, "PRAGMA journal_mode = WAL; PRAGMA application_id = 1396921420");
  fx_sql(f->path, tables_of_1_and_2);
  fx_sql(f->path, schema == 1 ? outcomes_of_1 : outcomes_of_2);
  fx_sql(f->path, rows);
  fx_sql(f->path, schema == 1 ? "PRAGMA user_version = 1" : "PRAGMA user_version = 2");
}

static void expect_old_row(sct_store *s) {
  sct_row_result *results = NULL;
  sct_row_run *runs = NULL;
  sct_row_device *devices = NULL;
  int n = 0;
  FX_OK(sct_store_devices(s, &kept_rows, &devices, &n, &err));
  assert_int_equal(n, 1);
  assert_int_equal(devices[0].measurement, 0);
  assert_string_equal(devices[0].options, "");
  assert_string_equal(devices[0].driver, "570.1");
  FX_OK(sct_store_runs(s, &kept_rows, 1, 0, &runs, &n, &err));
  assert_int_equal(n, 1);
  assert_int_equal(runs[0].winner, 1);
  assert_int_equal(runs[0].raced, 0);
  assert_string_equal(runs[0].finished, "");
  assert_string_equal(runs[0].estimates, "");
  FX_OK(sct_store_results(s, &kept_rows, 1, true, &results, &n, &err));
  assert_int_equal(n, 1);
  const sct_row_outcome *o = &results[0].outcome;
  assert_int_equal(o->times.n_samples, 2);
  assert_true(o->times.samples_ns[0] == 1.0 && o->times.samples_ns[1] == 2.0 &&
              o->times.median_ns == 1.5);
  assert_true(isnan(o->predicted_ns) && isnan(o->times.overhead_ns));
  assert_int_equal(o->times.launches, 0);
  assert_int_equal(o->times.copies, 0);
  assert_string_equal(o->race, "");
  assert_string_equal(o->measured, "");
  assert_true(o->how.coalesced && isnan(o->how.share));
  assert_int_equal(o->how.rule, SCT_COALESCED_RELATIVE);
  assert_int_equal(results[0].candidate.registers, 32);
  FX_OK(sct_store_earlier(s, &kept_rows, 1, &results, &n, &err));
  assert_int_equal(n, 0);
}

static void older_schemas_are_read_and_upgraded(void **state) {
  const fixture *const f = *state;
  for (int schema = 1; schema <= 2; ++schema) {
    (void)remove(f->path);
    make_old(f, schema);
    for (int writing = 0; writing < 2; ++writing) {
      sct_store *s = fx_open(f->path, writing == 0);
      expect_old_row(s);
      sct_store_close(s);
      char *version = fx_ask(f->path, "PRAGMA user_version");
      assert_int_equal(atoi(version), writing ? 6 : schema);
      free(version);
    }
    fx_check_integrity(f->path);
  }
}

#define COLUMNS                                                                                    \
  "SELECT group_concat(x, '\n') FROM (SELECT m.name || '.' || c.name || ' ' || c.type || "         \
  "c.\"notnull\" AS x FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' "   \
  "ORDER BY x)"

/* An upgraded store and one made by this program have the same columns of the same types. */
static void an_upgraded_store_is_like_a_fresh_one(void **state) {
  const fixture *const f = *state;
  sct_store_close(fx_open(f->path, false));
  char *fresh = fx_ask(f->path, COLUMNS);
  for (int schema = 1; schema <= 2; ++schema) {
    (void)remove(f->path);
    make_old(f, schema);
    sct_store_close(fx_open(f->path, false));
    char *upgraded = fx_ask(f->path, COLUMNS);
    assert_string_equal(upgraded, fresh);
    free(upgraded);
  }
  free(fresh);
}

/* ---- what is replaced stays ---- */

static sct_row_candidate candidate_of(const sct_row_run *run) {
  return (sct_row_candidate){.problem = run->problem,
                             .source_hash = (char *)(uintptr_t) "cc",
                             .label = (char *)(uintptr_t) "direct t256"};
}

static sct_row_outcome outcome_of(const sct_row_run *run, double *samples, int n,
                                  const char *measured) {
  return (sct_row_outcome){.run = run->id,
                           .outcome = (char *)(uintptr_t) "ok",
                           .times.median_ns = samples[0],
                           .times.samples_ns = samples,
                           .times.n_samples = n,
                           .times.launches = 12,
                           .times.copies = 5000000000,
                           .times.n_slow = 1,
                           .times.overhead_ns = 2.5,
                           .times.resident_ns = 0.5,
                           .race = (char *)(uintptr_t) "ff.2",
                           .small_size = (char *)(uintptr_t) "{}",
                           .measured = (char *)(uintptr_t)measured};
}

static void expect_rows(sct_store *s, sct_id run, double now, int n_earlier, double oldest) {
  sct_row_result *list = NULL;
  int n = 0;
  FX_OK(sct_store_results(s, &kept_rows, run, true, &list, &n, &err));
  assert_int_equal(n, 1);
  const sct_row_outcome *o = &list[0].outcome;
  assert_true(o->times.median_ns == now && o->times.samples_ns[0] == now);
  assert_true(o->times.overhead_ns == 2.5 && o->times.resident_ns == 0.5 &&
              o->times.copies == 5000000000);
  assert_true(o->times.launches == 12 && o->times.n_slow == 1);
  assert_string_equal(o->race, "ff.2");
  FX_OK(sct_store_earlier(s, &kept_rows, run, &list, &n, &err));
  assert_int_equal(n, n_earlier);
  if (n > 0) {
    assert_true(list[0].outcome.times.samples_ns[0] == oldest);
    assert_string_equal(list[0].candidate.label, "direct t256");
    assert_int_equal(strlen(list[0].outcome.content), 32);
  }
}

static void a_replaced_outcome_keeps_its_samples(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sct_row_candidate c = candidate_of(&run);
  double samples[3][2] = {{7, 8}, {5, 6}, {3, 4}};
  static const char *const when[] = {"2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z",
                                     "2024-01-03T00:00:00Z"};
  sct_id first = 0;
  for (int k = 0; k < 3; ++k) {
    sct_row_outcome o = outcome_of(&run, samples[k], 2, when[k]);
    FX_OK(sct_store_put_result(s, &c, &o, true, &err));
    first = k == 0 ? o.id : first;
    assert_int_equal(o.id, first); /* a run's winner still names it */
    expect_rows(s, run.id, samples[k][0], k, 7);
  }
  sct_row_outcome again = outcome_of(&run, samples[2], 2, "2024-01-04T00:00:00Z");
  FX_OK(sct_store_put_result(s, &c, &again, true, &err));
  expect_rows(s, run.id, 3, 2, 7);
  char *measured = fx_ask(f->path, "SELECT measured FROM outcome");
  assert_string_equal(measured, when[2]); /* an equal outcome: nothing is written */
  free(measured);
  sct_row_outcome back = outcome_of(&run, samples[0], 2, when[2]);
  FX_OK(sct_store_put_result(s, &c, &back, true, &err)); /* no longer among the earlier ones */
  expect_rows(s, run.id, 7, 2, 5);
  sct_store_close(s);
  fx_check_integrity(f->path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(older_schemas_are_read_and_upgraded, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(an_upgraded_store_is_like_a_fresh_one, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(a_replaced_outcome_keeps_its_samples, fx_setup, fx_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
