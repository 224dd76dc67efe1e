/* When a session asks the store for a candidate: not while nothing can be there. */
#include "tune/tune_record.h"

#include "scratch.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static char folder[64];

static int set_up(void **state) {
  (void)state;
  return scratch_make(folder, sizeof folder, "known");
}

static int tear_down(void **state) {
  (void)state;
  return scratch_remove(folder);
}

static void must(sct_status status, const sct_error *err) {
  if (status != SCT_OK) {
    fail_msg("%s", err->text);
  }
}

static sct_store *open_store(void) {
  char path[96];
  sct_error err;
  sct_store *store = NULL;
  snprintf(path, sizeof path, "%s/store.db", folder);
  must(sct_store_open(&store, path, false, &err), &err);
  return store;
}

/* The record of one candidate at one size. */
typedef struct one {
  tune_record r;
  tune_table table;
  sct_tune_opts opts;
  sct_tune_candidates cands;
  sct_tune_item item;
  tune_cell cell;
  sct_row_run run;
} one;

static void begin(one *o) {
  sct_error err;
  *o = (one){.item = {.code = {.hash = sct_hash_text("kernel"), .source = "kernel"}},
             .cell = {.fits = true},
             .cands = {.items = &o->item, .n_items = 1, .spec = {.n_sizes = 1}},
             .table = {.cands = &o->cands, .times = true, .cells = &o->cell},
             .r = {.opts = &o->opts,
                   .table = &o->table,
                   .store = open_store(),
                   .runs = &o->run,
                   .nothing_known = true}};
  sct_row_problem problem = {.name = "p", .spec_hash = "00"};
  sct_row_device device = {.name = "GPU"};
  must(sct_store_put_problem(o->r.store, &problem, &err), &err);
  must(sct_store_put_device(o->r.store, &device, &err), &err);
  o->run = (sct_row_run){.problem = problem.id, .device = device.id, .size_label = "i=1"};
  must(sct_store_put_run(o->r.store, &o->run, &err), &err);
}

/* Stores an outcome of a candidate with this text. */
static void put(sct_store *store, const one *o, const char *text) {
  char hex[SCT_HASH_HEX];
  double samples[] = {5, 5, 5};
  sct_error err;
  sct_row_candidate c = {.problem = o->run.problem,
                         .source_hash = sct_hash_hex(hex, sct_hash_text(text)),
                         .source = "kernel"};
  sct_row_outcome row = {.run = o->run.id,
                         .outcome = "ok",
                         .times.median_ns = 5,
                         .times.samples_ns = samples,
                         .times.n_samples = 3};
  must(sct_store_put_result(store, &c, &row, false, &err), &err);
}

static bool resumed(one *o) {
  sct_error err;
  must(sct_tune_resume_item(&o->r, 0, &err), &err);
  return o->cell.from_store && o->cell.row.times.n_samples == 3;
}

static void end(one *o) {
  sct_free(o->cell.row.times.samples_ns);
  sct_store_close(o->r.store);
  sct_arena_free(&o->cands.arena);
}

/* Two sessions share a run: what the other one has put is found from this one's next commit on. */
static void what_others_store_meanwhile_is_found(void **state) {
  (void)state;
  one o;
  begin(&o);
  put(o.r.store, &o, "mine");
  assert_false(resumed(&o));
  sct_store *other = open_store();
  put(other, &o, "kernel");
  sct_store_close(other);
  assert_false(resumed(&o)); /* nothing has been asked */
  put(o.r.store, &o, "mine too");
  assert_true(resumed(&o));
  end(&o);
}

static void what_was_there_is_found(void **state) {
  (void)state;
  one o;
  begin(&o);
  o.r.nothing_known = false; /* as there were outcomes at the start */
  assert_true(resumed(&o));
  end(&o);
}

static void nothing_is_found_where_all_is_measured_again(void **state) {
  (void)state;
  one o;
  begin(&o);
  o.r.nothing_known = false;
  o.opts.again = true;
  assert_false(resumed(&o));
  end(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_others_store_meanwhile_is_found),
      cmocka_unit_test(what_was_there_is_found),
      cmocka_unit_test(nothing_is_found_where_all_is_measured_again),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
