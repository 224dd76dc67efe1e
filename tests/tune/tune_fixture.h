/* tune_fixture - tuning sessions on the fake GPU, in a scratch folder.
 *
 * The built-in strategies are cut to the naive one with three thread counts (an override of the
 * assets), so that the number of a binary, which the fake's script counts, is known: 0 is the naive
 * variant "direct t256", 1 "direct t128", 2 "direct t512", 3 and on a test's own strategies. The
 * fake runs no code: only bodies that move data have a result it knows. */
#ifndef SCT_TESTS_TUNE_FIXTURE_H
#define SCT_TESTS_TUNE_FIXTURE_H

#include "scratch.h"
#include "shared_cache.h"
#include "tune/tune.h"

#include <poll.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

/* What tests have read: it stays. */
__attribute__((unused)) static sct_arena kept_rows;

#define TF_WORKER(argc, argv)                                                                      \
  if ((argc) > 1 && strcmp((argv)[1], SCT_WORKER_ARG) == 0) {                                      \
    return sct_worker_main((argc), (argv));                                                        \
  }                                                                                                \
  if ((argc) > 1 && strcmp((argv)[1], SCT_COMPILE_WORKER_ARG) == 0) {                              \
    return sct_compile_worker_main((argc), (argv));                                                \
  }

static char tf_folder[64];
static sct_arena tf_arena; /* of paths and texts */

/* ---- files ---- */

static inline const char *tf_path(const char *name) {
  const char *path = sct_arena_printf(&tf_arena, "%s/%s", tf_folder, name);
  assert_non_null(path);
  return path;
}

/* Writes FOLDER/name with its folders and returns its path. */
static inline const char *tf_write(const char *name, const char *text) {
  sct_error err = {0};
  sct_str dir = {0};
  const char *path = tf_path(name);
  sct_path_dirname(&dir, path);
  const bool good = sct_dir_make(sct_str_c(&dir), &err) == SCT_OK &&
                    sct_file_write(path, text, strlen(text), &err) == SCT_OK;
  sct_str_free(&dir);
  if (!good) {
    fail_msg("%s", err.text);
  }
  return path;
}

/* `text` with its first `from` replaced; fails the test where there is none. */
static inline const char *tf_replace(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  if (!at) {
    fail_msg("no '%s' in:\n%s", from, text);
  }
  return sct_arena_printf(&tf_arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

#define TF_THREADS "{ 256, 128, 512, 1024 }"

/* The naive strategy's own file with other thread counts and short labels. */
static inline const char *tf_direct(const char *threads) {
  sct_str text = {0};
  sct_error err;
  if (sct_asset_read(&text, "tuning/strategies/direct.lua", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  const char *kept = sct_arena_strdup(&tf_arena, sct_str_c(&text));
  sct_str_free(&text);
  assert_non_null(kept);
  if (strstr(kept, TF_THREADS)) { /* not yet the override of this fixture */
    kept = tf_replace(kept, "key = \"threads=\"", "key = \"t\"");
  }
  return tf_replace(kept, strstr(kept, TF_THREADS) ? TF_THREADS : "{ 256, 128, 512 }", threads);
}

/* A strategy NAME of the naive form with these thread counts. */
static inline const char *tf_strategy(const char *name, const char *threads) {
  const char *with_name = tf_replace(tf_direct(threads), "name = \"direct\"",
                                     sct_arena_printf(&tf_arena, "name = \"%s\"", name));
  return with_name;
}

/* Its text with `lines` run on every plan `p` of a map, for the candidate `c` of the view `k`. */
static inline const char *tf_planned(const char *strategy, const char *lines) {
  return tf_replace(strategy, "return p.g:plan(p)",
                    sct_arena_printf(&tf_arena, "p.g:plan(p)\n  %s\n  return p", lines));
}

/* Writes it to FOLDER/dir/NAME.lua. */
static inline void tf_add_strategy(const char *dir, const char *name, const char *text) {
  tf_write(sct_arena_printf(&tf_arena, "%s/%s.lua", dir, name), text);
}

static void tf_switch_off(const char *name) {
  const char *base = sct_path_basename(name);
  if (strcmp(base, "direct.lua") != 0) {
    tf_write(sct_arena_printf(&tf_arena, "assets/%s", name),
             sct_arena_printf(&tf_arena,
                              "return { name = \"%.*s\", template = \"direct.cu\", axes = {},\n"
                              "  applies = { { \"off\", function() return false end } } }\n",
                              (int)(strlen(base) - 4), base));
  }
}

static inline int tf_setup(void **state) {
  (void)state;
  assert_int_equal(scratch_make(tf_folder, sizeof tf_folder, "tune"), 0);
  /* one process checks: so the fake gets kernels in their order, by which its faults are named */
  assert_int_equal(setenv("SECTILE_CORES", "1", 1), 0);
  int n = 0;
  const char **names = sct_asset_names(&n, &tf_arena, "tuning/strategies/", "");
  for (int k = 0; k < n; k++) {
    tf_switch_off(names[k]);
  }
  tf_write("assets/tuning/strategies/direct.lua", tf_direct("{ 256, 128, 512 }"));
  sct_assets_override(tf_path("assets"));
  return 0;
}

static inline int tf_teardown(void **state) {
  (void)state;
  sct_assets_override(NULL);
  sct_arena_free(&tf_arena);
  return scratch_remove(tf_folder);
}

/* ---- specs ---- */

#define TF_COPY(sizes)                                                                             \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"move\", dims = { \"i\" },\n"                                                         \
  "  inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\") },\n"               \
  "  body = \"b = a;\", sizes = { " sizes " },\n"                                                  \
  "}\n"

/* ---- sessions ---- */

typedef struct tf_run {
  sct_tune_opts opts;
  sct_tune_report report;
  sct_status status;
  sct_error err;
  int n_compile, n_count, n_check, n_verify, n_time, n_final; /* progress events of each phase */
  int64_t of_compile, of_check; /* how many that phase said there are */
  int stop_at_check;            /* likewise of "check" events */
  int stop_at;                  /* true after so many "time" events; 0: never */
  int pause_ms;                 /* at each of them */
  char items[4096];             /* labels of the "time" events, each in <> */
} tf_run;

static void tf_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  tf_run *r = ctx;
  assert_in_range(done, 0, total);
  if (strcmp(phase, "compile") == 0 || strcmp(phase, "check") == 0) {
    int64_t *of = strcmp(phase, "check") == 0 ? &r->of_check : &r->of_compile;
    assert_true(*of == 0 || *of == total); /* a bar that is full again and again says nothing */
    *of = total;
  }
  r->n_compile += strcmp(phase, "compile") == 0 && done > 0;
  r->n_count += strcmp(phase, "count") == 0;
  r->n_check += strcmp(phase, "check") == 0;
  r->n_verify += strcmp(phase, "verify") == 0;
  r->n_final += strcmp(phase, "final") == 0;
  if (strcmp(phase, "time") == 0) {
    r->n_time++;
    (void)poll(NULL, 0, r->pause_ms);
    const size_t len = strlen(r->items);
    snprintf(r->items + len, sizeof r->items - len, "<%s>", item);
  }
}

static bool tf_stop(void *ctx) {
  const tf_run *r = ctx;
  return (r->stop_at > 0 && r->n_time >= r->stop_at) ||
         (r->stop_at_check > 0 && r->n_check >= r->stop_at_check);
}

/* Kernels that a cache has overtake those that are compiled. Where faults are named by the order in
 * which the fake gets kernels, a session has a cache of its own, which nobody fills in part. */
static inline const char *tf_cache(const char *faults) {
  static int n = 0;
  const char *own = tf_path(sct_arena_printf(&tf_arena, "cache%d", n++));
  return faults && strchr(faults, '@') ? own : shared_cache(own);
}

/* A session on the fake GPU with this script of faults; store FOLDER/store (NULL: none). */
static inline tf_run tf_new(const char *faults, const char *store) {
  tf_run r = {.opts = {.device = "cuda:0", .compile_threads = 1, .seed = 7}};
  r.opts.store_path = store ? tf_path(store) : "";
  r.opts.cache_dir = tf_cache(faults);
  r.opts.measure.fake = faults;
  r.opts.measure.request_ns = 60000000000; /* sanitizers and busy machines */
  return r;
}

static inline void tf_tune(tf_run *r, const char *spec) {
  const char *path = tf_write("spec.lua", spec);
  const sct_tune_events events = {.ctx = r, .progress = tf_progress, .stop = tf_stop};
  sct_tune_report_free(&r->report);
  r->n_compile = r->n_count = r->n_check = r->n_verify = r->n_time = r->n_final = 0;
  r->of_compile = r->of_check = 0;
  r->items[0] = '\0';
  memset(&r->err, 0, sizeof r->err);
  r->status = sct_tune_run(&r->report, path, &r->opts, &events, &r->err);
  for (int z = 0; z < r->report.n_sizes; z++) { /* no candidate gets lost */
    const sct_tune_size *size = &r->report.sizes[z];
    assert_int_equal(size->n_verified + size->n_failed + size->n_unfit + size->n_untried,
                     r->report.n_sources);
  }
}

static inline void tf_show(const sct_tune_size *size) {
  for (int k = 0; k < size->n_rows; k++) {
    const sct_tune_row *row = &size->rows[k];
    print_error("  %s: %s %.1f ns%s%s%s %s\n", row->label, row->outcome.outcome,
                row->outcome.times.median_ns, row->winner ? " winner" : "",
                row->naive ? " naive" : "", row->outcome.how.coalesced ? " coalesced" : "",
                row->outcome.detail ? row->outcome.detail : "");
  }
}

static inline void tf_tune_ok(tf_run *r, const char *spec) {
  tf_tune(r, spec);
  if (r->status != SCT_OK) {
    for (int z = 0; z < r->report.n_sizes; z++) {
      tf_show(&r->report.sizes[z]);
    }
    fail_msg("%s", r->err.text);
  }
}

static inline void tf_free(tf_run *r) {
  sct_tune_report_free(&r->report);
}

/* The row with this label at size z; NULL if there is none. */
static inline const sct_tune_row *tf_find(const tf_run *r, int z, const char *label) {
  const sct_tune_size *size = &r->report.sizes[z];
  for (int k = 0; k < size->n_rows; k++) {
    if (strcmp(size->rows[k].label, label) == 0) {
      return &size->rows[k];
    }
  }
  return NULL;
}

static inline const sct_tune_row *tf_row(const tf_run *r, int z, const char *label) {
  assert_in_range(z, 0, r->report.n_sizes - 1);
  const sct_tune_row *row = tf_find(r, z, label);
  if (!row) {
    tf_show(&r->report.sizes[z]);
    fail_msg("no row '%s'", label);
  }
  return row;
}

/* The one winner of size z is the first row and has this label. */
static inline void tf_assert_winner(const tf_run *r, int z, const char *label) {
  assert_in_range(z, 0, r->report.n_sizes - 1);
  const sct_tune_size *size = &r->report.sizes[z];
  int n = 0;
  for (int k = 0; k < size->n_rows; k++) {
    n += size->rows[k].winner;
  }
  if (n != 1 || !size->rows[0].winner || strcmp(size->rows[0].label, label) != 0) {
    tf_show(size);
    fail_msg("'%s' is not the one winner, in front", label);
  }
}

static inline void tf_assert_outcome(const tf_run *r, int z, const char *label,
                                     const char *outcome) {
  const sct_tune_row *row = tf_row(r, z, label);
  if (strcmp(row->outcome.outcome, outcome) != 0) {
    tf_show(&r->report.sizes[z]);
  }
  assert_string_equal(row->outcome.outcome, outcome);
}

/* ---- what the store holds ---- */

typedef struct tf_stored {
  sct_store *store;
  sct_row_problem *problems;
  sct_row_device *devices;
  sct_row_run *runs; /* of the first problem, every device */
  sct_row_result *results;
  int n_problems, n_devices, n_runs, n_results; /* results of the run chosen last */
} tf_stored;

static inline void tf_must(sct_status status, const sct_error *err) {
  if (status != SCT_OK) {
    fail_msg("%s", err->text);
  }
}

static inline void tf_results(tf_stored *s, int run) {
  sct_error err;
  assert_in_range(run, 0, s->n_runs - 1);
  tf_must(sct_store_results(s->store, &kept_rows, s->runs[run].id, true, &s->results, &s->n_results,
                            &err),
          &err);
}

static inline void tf_stored_open(tf_stored *s, const char *store) {
  sct_error err;
  *s = (tf_stored){0};
  tf_must(sct_store_open(&s->store, tf_path(store), true, &err), &err);
  tf_must(sct_store_problems(s->store, &kept_rows, &s->problems, &s->n_problems, &err), &err);
  tf_must(sct_store_devices(s->store, &kept_rows, &s->devices, &s->n_devices, &err), &err);
  assert_in_range(s->n_problems, 1, 100);
  tf_must(sct_store_runs(s->store, &kept_rows, s->problems[0].id, 0, &s->runs, &s->n_runs, &err),
          &err);
  tf_results(s, 0);
}

static inline void tf_stored_close(tf_stored *s) {
  sct_store_close(s->store);
}

static inline const sct_row_result *tf_result(const tf_stored *s, const char *label) {
  for (int k = 0; k < s->n_results; k++) {
    if (strcmp(s->results[k].candidate.label, label) == 0) {
      return &s->results[k];
    }
  }
  fail_msg("no stored result '%s'", label);
  return NULL;
}

/* ---- what a store holds ---- */

static inline int tf_take_number(void *out, int n, char **values, char **names) {
  (void)n, (void)names;
  *(int *)out = values[0] ? atoi(values[0]) : -1;
  return 0;
}

/* The number that a question in SQL gives; -1: none. */
static inline int tf_ask(const char *store, const char *text) {
  sqlite3 *db = NULL;
  int out = -1;
  assert_int_equal(sqlite3_open(tf_path(store), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, text, tf_take_number, &out, NULL), SQLITE_OK);
  sqlite3_close(db);
  return out;
}

#endif
