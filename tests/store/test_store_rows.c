/* Rows: put and find, round trips, order, what may not be put, and the documentation of the tables.
 */
#include "store_fixture.h"

#include <math.h>

static void test_put_twice_is_one_row(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run first = fx_run(s);
  const sct_row_run again = fx_run(s);
  assert_true(first.id > 0);
  assert_int_equal(again.id, first.id);
  assert_int_equal(again.problem, first.problem);
  assert_int_equal(again.device, first.device);
  sct_id a = 0;
  sct_id b = 0;
  sct_id c = 0;
  FX_OK(fx_put(s, &first, 1, &a, &err));
  FX_OK(fx_put(s, &first, 1, &b, &err));
  FX_OK(fx_put(s, &first, 2, &c, &err));
  assert_int_equal(a, b);
  assert_int_not_equal(a, c);
  assert_int_equal(fx_count_results(s, &first), 2);
  sct_store_close(s);
  s = fx_open(f->path, false); /* and in another session */
  FX_OK(fx_put(s, &first, 2, &b, &err));
  assert_int_equal(b, c);
  assert_int_equal(fx_count_results(s, &first), 2);
  sct_store_close(s);
}

static void test_problem_round_trip(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  sct_row_problem bare = {.spec_hash = "01"}; /* NULL strings */
  sct_row_problem full = {.name = "b\xc3\xa4\xe2\x82\xac '\"; DROP TABLE problem",
                          .spec_hash = "02",
                          .spec_file = "x.lua",
                          .canonical = "line one\nline two\t",
                          .signature = "{\"name\": \"\\u20ac\", \"dims\": [\"i\"]}"};
  FX_OK(sct_store_put_problem(s, &bare, &err));
  FX_OK(sct_store_put_problem(s, &full, &err));
  sct_row_problem *rows = NULL;
  int n = 0;
  FX_OK(sct_store_problem_by_name(s, &kept_rows, full.name, &rows, &n, &err));
  assert_int_equal(n, 1);
  assert_int_equal(rows[0].id, full.id);
  assert_string_equal(rows[0].name, full.name);
  assert_string_equal(rows[0].spec_hash, full.spec_hash);
  assert_string_equal(rows[0].spec_file, full.spec_file);
  assert_string_equal(rows[0].canonical, full.canonical);
  assert_string_equal(rows[0].signature, full.signature);
  FX_OK(sct_store_problem_by_hash(s, &kept_rows, "01", &rows, &n, &err));
  assert_int_equal(n, 1);
  assert_string_equal(rows[0].name, "");
  assert_string_equal(rows[0].signature, "");
  FX_OK(sct_store_problem_by_hash(s, &kept_rows, "none", &rows, &n, &err));
  assert_int_equal(n, 0);
  FX_OK(sct_store_problems(s, &kept_rows, &rows, &n, &err));
  assert_int_equal(n, 2);
  assert_int_equal(rows[0].id, bare.id); /* "" sorts first */
  sct_store_close(s);
}

/* What a later version says of the same spec replaces what an older one said; nothing else does. */
static void test_a_problem_s_signature_is_renewed(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  sct_row_problem old = {
      .name = "k", .spec_hash = "07", .canonical = "spec", .signature = "{\"name\": \"k\"}"};
  sct_row_problem renewed = old;
  sct_row_problem silent = old;
  renewed.signature = "{\"name\": \"k\", \"shape\": []}";
  renewed.canonical = "other";
  silent.signature = NULL;
  FX_OK(sct_store_put_problem(s, &old, &err));
  FX_OK(sct_store_put_problem(s, &renewed, &err));
  FX_OK(sct_store_put_problem(s, &silent, &err));
  assert_int_equal(renewed.id, old.id);
  assert_int_equal(silent.id, old.id);
  sct_row_problem *rows = NULL;
  int n = 0;
  FX_OK(sct_store_problem_by_hash(s, &kept_rows, "07", &rows, &n, &err));
  assert_int_equal(n, 1);
  assert_string_equal(rows[0].signature, renewed.signature);
  assert_string_equal(rows[0].canonical, "spec");
  sct_store_close(s);
}

static void test_device_key_and_round_trip(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  sct_row_device d = {.name = "NVIDIA H200",
                      .device_id = "cuda:0",
                      .uuid = "GPU-aaaa",
                      .driver = "580.1",
                      .nvrtc = "13.0",
                      .tool = "0.1.0",
                      .arch = "sm_90",
                      .cc_major = 9,
                      .description = "{\"n_sms\":132}"};
  FX_OK(sct_store_put_device(s, &d, &err));
  const sct_id first = d.id;
  /* Each of these conditions changes results, so each makes another device; the rest does not. */
  sct_row_device other[8] = {d, d, d, d, d, d, d, d};
  other[0].name = "NVIDIA H100";
  other[1].uuid = "GPU-bbbb";
  other[2].cc_minor = 1;
  other[3].driver = "580.2";
  other[4].nvrtc = "13.1";
  other[5].measurement = 2;
  other[6].clock_khz = 1980000;
  other[7].options = "-O1";
  for (int i = 0; i < SCT_COUNT(other); ++i) {
    FX_OK(sct_store_put_device(s, &other[i], &err));
    assert_int_not_equal(other[i].id, first);
  }
  sct_row_device same = d;
  same.device_id = "cuda:3";
  same.tool = "0.2.0";
  same.description = "{}";
  FX_OK(sct_store_put_device(s, &same, &err));
  assert_int_equal(same.id, first);
  char key[SCT_HASH_HEX];
  assert_int_equal(strlen(sct_store_device_key(key, &d)), 32);

  sct_row_device *rows = NULL;
  int n = 0;
  FX_OK(sct_store_devices(s, &kept_rows, &rows, &n, &err));
  assert_int_equal(n, 9);
  assert_int_equal(rows[0].id, first);
  assert_string_equal(rows[0].key, key);
  assert_string_equal(rows[0].name, "NVIDIA H200");
  assert_string_equal(rows[0].device_id, "cuda:0");
  assert_string_equal(rows[0].arch, "sm_90");
  assert_int_equal(rows[0].cc_major, 9);
  assert_false(rows[0].is_virtual);
  assert_string_equal(rows[0].description, "{\"n_sms\":132}");
  sct_store_close(s);
}

static void test_result_round_trip(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  double samples[3] = {1.5, 0x1.fffffffffffffp+1023, 4.9406564584124654e-324};
  sct_row_candidate c = {.problem = run.problem,
                         .source_hash = "abc",
                         .label = "staged t256",
                         .strategy = "staged",
                         .axes = "{\"threads\":256}",
                         .source = "__global__ void k() { /* \xe2\x82\xac */ }\n",
                         .kernel = "k",
                         .launch = "{\"threads\":256}",
                         .options = "-lineinfo",
                         .registers = 40,
                         .spill_bytes = 8,
                         .shared_bytes = 6144};
  sct_row_outcome o = {.run = run.id,
                       .outcome = "wrong_result",
                       .detail = "b.y of element i=31",
                       .times.median_ns = 10.25,
                       .times.q1_ns = 10,
                       .times.q3_ns = 11,
                       .times.min_ns = 9,
                       .times.sm_clock_mhz = 1980,
                       .times.samples_ns = samples,
                       .times.n_samples = 3,
                       .requests_ld = 1,
                       .sectors_ld = 2,
                       .sectors_ld_ideal = 3,
                       .requests_st = 4,
                       .sectors_st = -1,
                       .sectors_st_ideal = (double)INFINITY,
                       .wavefronts = (double)NAN,
                       .degree = 0.875,
                       .how.coalesced = true,
                       .predicted_ns = 9.5};
  FX_OK(sct_store_put_result(s, &c, &o, false, &err));
  assert_true(c.id > 0 && o.id > 0);
  assert_int_equal(o.candidate, c.id);

  sct_row_result r;
  FX_OK(sct_store_result(s, &kept_rows, o.id, &r, &err));
  assert_int_equal(r.candidate.id, c.id);
  assert_int_equal(r.candidate.problem, run.problem);
  assert_string_equal(r.candidate.source_hash, c.source_hash);
  assert_string_equal(r.candidate.label, c.label);
  assert_string_equal(r.candidate.strategy, c.strategy);
  assert_string_equal(r.candidate.axes, c.axes);
  assert_string_equal(r.candidate.source, c.source);
  assert_string_equal(r.candidate.kernel, c.kernel);
  assert_string_equal(r.candidate.launch, c.launch);
  assert_string_equal(r.candidate.options, c.options);
  assert_int_equal(r.candidate.registers, 40);
  assert_int_equal(r.candidate.spill_bytes, 8);
  assert_int_equal(r.candidate.shared_bytes, 6144);
  assert_int_equal(r.outcome.id, o.id);
  assert_int_equal(r.outcome.run, run.id);
  assert_int_equal(r.outcome.candidate, c.id);
  assert_string_equal(r.outcome.outcome, o.outcome);
  assert_string_equal(r.outcome.detail, o.detail);
  const double got[] = {
      r.outcome.times.median_ns,  r.outcome.times.q1_ns,        r.outcome.times.q3_ns,
      r.outcome.times.min_ns,     r.outcome.requests_ld,        r.outcome.sectors_ld,
      r.outcome.sectors_ld_ideal, r.outcome.requests_st,        r.outcome.sectors_st,
      r.outcome.degree,           r.outcome.times.sm_clock_mhz, r.outcome.predicted_ns};
  const double expected[] = {10.25, 10, 11, 9, 1, 2, 3, 4, -1, 0.875, 1980, 9.5};
  assert_memory_equal(got, expected, sizeof(expected));
  assert_true(isinf(r.outcome.sectors_st_ideal));
  assert_true(isnan(r.outcome.wavefronts));
  assert_true(r.outcome.how.coalesced);
  assert_false(r.outcome.counts_exact);
  assert_int_equal(r.outcome.times.n_samples, 3);
  assert_memory_equal(r.outcome.times.samples_ns, samples, sizeof(samples));
  sct_store_close(s);
}

/* `fill` stands in all bytes that no member has. */
static sct_row_result said(unsigned char fill, double *samples) {
  sct_row_result r;
  memset(&r, fill, sizeof r);
  r.candidate = (sct_row_candidate){.label = "a", .options = "-lineinfo", .registers = 40};
  sct_row_outcome *o = &r.outcome;
  o->id = fill, o->run = fill, o->candidate = fill;
  o->outcome = "ok", o->detail = "", o->race = "r", o->small_size = "{}", o->content = NULL;
  o->measured = fill > 0 ? "2026-01-01T00:00:00Z" : NULL;
  double *const reals[] = {&o->times.median_ns,  &o->times.q1_ns,        &o->times.q3_ns,
                           &o->times.min_ns,     &o->times.sm_clock_mhz, &o->requests_ld,
                           &o->sectors_ld,       &o->sectors_ld_ideal,   &o->requests_st,
                           &o->sectors_st,       &o->wavefronts,         &o->sectors_st_ideal,
                           &o->degree,           &o->predicted_ns,       &o->times.overhead_ns,
                           &o->times.resident_ns};
  for (int k = 0; k < SCT_COUNT(reals); k++) {
    *reals[k] = k + 0.5;
  }
  o->times.samples_ns = samples, o->times.n_samples = 2;
  o->how.coalesced = fill > 0, o->how.unknown = fill == 0, o->counts_exact = true;
  o->times.launches = 3, o->times.copies = 4, o->times.n_slow = 5;
  return r;
}

static void test_what_an_outcome_says(void **state) {
  (void)state;
  double samples[] = {1.5, 2.5};
  char hex[SCT_HASH_HEX], other[SCT_HASH_HEX];
  const sct_row_result plain = said(0, samples), filled = said(0x5a, samples);
  sct_store_result_hash(hex, &plain);
  assert_string_equal(sct_store_result_hash(other, &filled), hex);
  assert_string_equal(hex, "38cecb25873eb6c1627e9bd387c47f3b"); /* stands in stores */
#define SAYS_OTHERWISE(member, value)                                                              \
  do {                                                                                             \
    sct_row_result changed = plain;                                                                \
    changed.member = value;                                                                        \
    assert_string_not_equal(sct_store_result_hash(other, &changed), hex);                          \
  } while (0)
  SAYS_OTHERWISE(outcome.outcome, "hang");
  SAYS_OTHERWISE(outcome.detail, "d");
  SAYS_OTHERWISE(outcome.race, "");
  SAYS_OTHERWISE(outcome.small_size, "");
  SAYS_OTHERWISE(outcome.times.median_ns, (double)NAN);
  SAYS_OTHERWISE(outcome.sectors_st_ideal, -1);
  SAYS_OTHERWISE(outcome.times.resident_ns, 0);
  SAYS_OTHERWISE(outcome.times.n_samples, 1);
  SAYS_OTHERWISE(outcome.counts_exact, false);
  SAYS_OTHERWISE(outcome.times.launches, 4);
  SAYS_OTHERWISE(outcome.times.copies, 5);
  SAYS_OTHERWISE(outcome.times.n_slow, 6);
  SAYS_OTHERWISE(candidate.registers, 41);
#undef SAYS_OTHERWISE
  samples[1] = 3.5;
  assert_string_not_equal(sct_store_result_hash(other, &plain), hex);
}

static void test_listing_without_source(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  FX_OK(fx_put(s, &run, 7, NULL, &err));
  sct_row_result *rows = NULL;
  int n = 0;
  FX_OK(sct_store_results(s, &kept_rows, run.id, false, &rows, &n, &err));
  assert_int_equal(n, 1);
  assert_string_equal(rows[0].candidate.source, "");
  assert_string_equal(rows[0].candidate.label, "direct t7");
  assert_null(rows[0].outcome.times.samples_ns);
  assert_int_equal(rows[0].outcome.times.n_samples, 0);
  FX_OK(sct_store_results(s, &kept_rows, run.id, true, &rows, &n, &err));
  assert_true(sct_has_prefix(rows[0].candidate.source, "__global__ void k7()"));
  assert_int_equal(rows[0].outcome.times.n_samples, 11);
  assert_true(rows[0].outcome.times.samples_ns[10] == 7010.0);
  sct_store_close(s);
}

/* The candidate's row stays, its outcome is replaced on request only; figures go with the outcome.
 */
static void test_replace(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sct_row_candidate c = {
      .problem = run.problem, .source_hash = "h", .label = "first", .registers = 8};
  sct_row_outcome o = {.run = run.id, .outcome = "hang"};
  FX_OK(sct_store_put_result(s, &c, &o, false, &err));
  const sct_id id = o.id;
  for (int replace = 0; replace < 2; ++replace) {
    double sample = 4;
    sct_row_candidate c2 = {
        .problem = run.problem, .source_hash = "h", .label = "second", .registers = 9};
    sct_row_outcome o2 = {.run = run.id,
                          .outcome = "ok",
                          .times.median_ns = 4,
                          .times.samples_ns = &sample,
                          .times.n_samples = 1};
    FX_OK(sct_store_put_result(s, &c2, &o2, replace != 0, &err));
    assert_int_equal(o2.id, id);
    sct_row_result r;
    FX_OK(sct_store_result(s, &kept_rows, id, &r, &err));
    assert_string_equal(r.outcome.outcome, replace != 0 ? "ok" : "hang");
    assert_int_equal(r.outcome.times.n_samples, replace);
    assert_int_equal(r.candidate.registers, 8 + replace);
    assert_string_equal(r.candidate.label, "first");
  }
  sct_store_close(s);
}

/* What is evaluated of many outcomes at once stands in all of them or, if one is missing, in none.
 */
static void test_evaluated_together(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sct_id id[3];
  for (int k = 0; k < 3; ++k) {
    FX_OK(fx_put(s, &run, k, &id[k], &err));
  }
  sct_row_result before[3];
  for (int k = 0; k < 3; ++k) {
    FX_OK(sct_store_result(s, &kept_rows, id[k], &before[k], &err));
  }
  const sct_id missing[] = {id[0], 1000};
  const sct_row_coalesced first[] = {{.coalesced = !before[0].outcome.how.coalesced}, {0}};
  sct_error why;
  assert_int_equal(sct_store_put_coalesced(s, missing, first, 2, &why), SCT_EDATA);
  FX_OK(sct_store_put_coalesced(s, NULL, NULL, 0, &err));
  for (int turn = 0; turn < 2; ++turn) {
    for (int k = 0; k < 3; ++k) {
      sct_row_result r;
      FX_OK(sct_store_result(s, &kept_rows, id[k], &r, &err));
      const bool changed = turn == 1 && k != 1;
      assert_int_equal(r.outcome.how.coalesced, before[k].outcome.how.coalesced != changed);
      assert_int_equal(r.outcome.how.rule, changed);
      assert_true(r.outcome.how.share == (changed ? 0.25 : 0.0));
      assert_string_equal(r.outcome.measured, before[k].outcome.measured);
      assert_true(r.outcome.times.median_ns == before[k].outcome.times.median_ns);
    }
    const sct_id two[] = {id[0], id[2]};
    sct_row_coalesced other[] = {before[0].outcome.how, before[2].outcome.how};
    for (int k = 0; k < 2; ++k) {
      other[k].coalesced = !other[k].coalesced;
      other[k].rule = SCT_COALESCED_ABSOLUTE;
      other[k].share = 0.25;
    }
    FX_OK(sct_store_put_coalesced(s, two, other, 2, &err));
  }
  for (int k = 0; k < 3; ++k) {
  }
  sct_store_close(s);
}

/* Figures of one source on two devices do not mix. */
static void test_figures_belong_to_the_device(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sct_row_device device = {.name = "another", .cc_major = 8};
  FX_OK(sct_store_put_device(s, &device, &err));
  sct_row_run run2 = {.problem = run.problem, .device = device.id, .size_label = "i=1000"};
  FX_OK(sct_store_put_run(s, &run2, &err));
  const sct_id runs[] = {run.id, run2.id};
  for (int i = 0; i < 2; ++i) {
    sct_row_candidate c = {.problem = run.problem, .source_hash = "h", .registers = 10 + i};
    sct_row_outcome o = {.run = runs[i], .outcome = "ok"};
    FX_OK(sct_store_put_result(s, &c, &o, false, &err));
  }
  for (int i = 0; i < 2; ++i) {
    sct_row_result r;
    bool found = false;
    FX_OK(sct_store_find(s, &kept_rows, runs[i], "h", &r, &found, &err));
    assert_true(found);
    assert_int_equal(r.candidate.registers, 10 + i);
  }
  sct_store_close(s);
}

static void test_find_resumes(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sct_id id = 0;
  FX_OK(fx_put(s, &run, 3, &id, &err));
  sct_store_close(s);
  s = fx_open(f->path, false);
  sct_row_result r;
  bool found = false;
  FX_OK(sct_store_find(s, &kept_rows, run.id, "hash000003", &r, &found, &err));
  assert_true(found);
  assert_int_equal(r.outcome.id, id);
  assert_int_equal(r.outcome.times.n_samples, 11);
  FX_OK(sct_store_find(s, &kept_rows, run.id, "hash000004", &r, &found, &err));
  assert_false(found);
  FX_OK(sct_store_find(s, &kept_rows, run.id + 1, "hash000003", &r, &found, &err));
  assert_false(found);
  sct_error why = {0};
  assert_int_equal(sct_store_result(s, &kept_rows, id + 1, &r, &why), SCT_EDATA);
  assert_non_null(strstr(why.text, "no outcome"));
  sct_store_close(s);
}

static void test_order_of_results(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  /* In the order in which they must come back; put backwards. */
  static const struct {
    const char *label;
    double median, ld, st;
  } in_order[] = {
      {"fast", 10, 9, 9},
      {"tie a", 20, 4, 4},
      {"tie b", 20, 4, 4},
      {"tie more sectors", 20, 5, 4},
      {"tie unknown", 20, -1, 0},
      {"slow", 30, 1, 1},
      {"untimed few", 0, 1, 1},
      {"untimed many", 0, 100, 1},
      {"untimed unknown", 0, -1, -1},
      {"untimed unknown too", (double)NAN, 3, (double)NAN},
  };
  for (int i = SCT_COUNT(in_order) - 1; i >= 0; --i) {
    char hash[16];
    char label[64];
    (void)snprintf(hash, sizeof(hash), "h%d", i);
    (void)snprintf(label, sizeof(label), "%s", in_order[i].label);
    sct_row_candidate c = {.problem = run.problem, .source_hash = hash, .label = label};
    sct_row_outcome o = {.run = run.id,
                         .outcome = "ok",
                         .times.median_ns = in_order[i].median,
                         .sectors_ld = in_order[i].ld,
                         .sectors_st = in_order[i].st};
    FX_OK(sct_store_put_result(s, &c, &o, false, &err));
  }
  sct_row_result *rows = NULL;
  int n = 0;
  FX_OK(sct_store_results(s, &kept_rows, run.id, false, &rows, &n, &err));
  assert_int_equal(n, SCT_COUNT(in_order));
  for (int i = 0; i < n; ++i) {
    assert_string_equal(rows[i].candidate.label, in_order[i].label);
  }
  sct_store_close(s);
}

static void test_runs_are_ordered_and_finished(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run base = fx_run(s); /* i=1000 */
  sct_row_device device = {.name = "second"};
  FX_OK(sct_store_put_device(s, &device, &err));
  static const struct {
    char *label, *extents;
  } sizes[] = {{"big", "{\"row\": 3000000000, \"col\": 3}"},
               {"small", "{\"row\": 20, \"col\": 4}"},
               {"empty", "{\"row\": 0, \"col\": 4}"}};
  for (int i = 0; i < SCT_COUNT(sizes); ++i) {
    sct_row_run r = {.problem = base.problem,
                     .device = i == 1 ? device.id : base.device,
                     .size_label = sizes[i].label,
                     .extents = sizes[i].extents};
    FX_OK(sct_store_put_run(s, &r, &err));
  }
  sct_row_run *rows = NULL;
  int n = 0;
  FX_OK(sct_store_runs(s, &kept_rows, base.problem, 0, &rows, &n, &err));
  assert_int_equal(n, 4);
  assert_string_equal(rows[0].size_label, "empty");
  assert_string_equal(rows[1].size_label, "i=1000");
  assert_string_equal(rows[2].size_label, "big");
  assert_string_equal(rows[3].size_label, "small"); /* the other device */
  FX_OK(sct_store_runs(s, &kept_rows, base.problem, device.id, &rows, &n, &err));
  assert_int_equal(n, 1);
  FX_OK(sct_store_runs(s, &kept_rows, base.problem + 99, 0, &rows, &n, &err));
  assert_int_equal(n, 0);

  sct_id ok = 0;
  FX_OK(fx_put(s, &base, 1, &ok, &err));
  sct_row_run done = base;
  done.ceiling_bytes_s = 4.27e12;
  done.noise = 0.01;
  done.n_candidates = 5;
  done.n_verified = 3;
  done.n_failed = 2;
  done.n_tied = 1;
  done.conditions = "{\"seed\":7}";
  done.winner = ok;
  done.started = "not rewritten";
  FX_OK(sct_store_finish_run(s, &done, &err));
  FX_OK(sct_store_runs(s, &kept_rows, base.problem, base.device, &rows, &n, &err));
  const sct_row_run *const got = &rows[1];
  assert_int_equal(got->id, base.id);
  assert_true(got->ceiling_bytes_s == 4.27e12 && got->noise == 0.01);
  assert_int_equal(
      got->n_candidates * 1000 + got->n_verified * 100 + got->n_failed * 10 + got->n_tied, 5321);
  assert_string_equal(got->conditions, "{\"seed\":7}");
  assert_int_equal(got->winner, ok);
  assert_int_equal(got->naive, 0);
  assert_string_equal(got->started, base.started);
  assert_true(got->read_bytes == 4000);
  sct_store_close(s);
}

static void refused(sct_status status, sct_status expected, const sct_error *err,
                    const char *word) {
  assert_int_equal(status, expected);
  if (strstr(err->text, word) == NULL) {
    fail_msg("no \"%s\" in: %s", word, err->text);
  }
}

static void test_what_may_not_be_put(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sct_error why = {0};
  sct_row_problem p = {.name = "x"};
  refused(sct_store_put_problem(s, &p, &why), SCT_EINTERNAL, &why, "spec_hash");
  p.spec_hash = "03";
  p.signature = "{\"name\": ";
  refused(sct_store_put_problem(s, &p, &why), SCT_EINTERNAL, &why, "signature");
  sct_row_run orphan = {.problem = 999, .device = run.device, .size_label = "x"};
  refused(sct_store_put_run(s, &orphan, &why), SCT_EINTERNAL, &why, "FOREIGN KEY");

  /* a candidate of another problem cannot enter a run */
  p.signature = NULL;
  FX_OK(sct_store_put_problem(s, &p, &err));
  sct_row_candidate c = {.problem = p.id, .source_hash = "h"};
  sct_row_outcome o = {.run = run.id, .outcome = "ok"};
  refused(sct_store_put_result(s, &c, &o, false, &why), SCT_EINTERNAL, &why, "not of problem");
  assert_int_equal(c.id, 0);

  /* a winner must be an outcome of the run itself */
  sct_row_run other = {.problem = p.id, .device = run.device, .size_label = "x"};
  FX_OK(sct_store_put_run(s, &other, &err));
  FX_OK(sct_store_put_result(s, &c, &(sct_row_outcome){.run = other.id}, false, &err));
  sct_row_result *rows = NULL;
  int n = 0;
  FX_OK(sct_store_results(s, &kept_rows, other.id, false, &rows, &n, &err));
  sct_row_run finished = run;
  finished.winner = rows[0].outcome.id;
  refused(sct_store_finish_run(s, &finished, &why), SCT_EINTERNAL, &why, "not one of run");
  sct_row_run missing = {.id = 12345};
  refused(sct_store_finish_run(s, &missing, &why), SCT_EDATA, &why, "no row");
  assert_int_equal(fx_count_results(s, &run), 0);
  sct_store_close(s);
}

/* Our own commits do not count, nor what is copied from the log when it is full; those of others do
 * as soon as a transaction of ours has seen them. */
static void test_others_that_write_are_noticed(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  for (int k = 0; k < 300; ++k) {
    FX_OK(fx_put(s, &run, k, NULL, &err));
    assert_false(sct_store_changed_by_others(s));
  }
  assert_int_equal(fx_count_results(s, &run), 300);
  sct_store *other = fx_open(f->path, false);
  assert_int_equal(fx_count_results(other, &run), 300);
  FX_OK(fx_put(s, &run, 300, NULL, &err));
  assert_false(sct_store_changed_by_others(s)); /* it has only read */
  FX_OK(fx_put(other, &run, 301, NULL, &err));
  assert_false(sct_store_changed_by_others(s));
  FX_OK(fx_put(s, &run, 302, NULL, &err));
  assert_true(sct_store_changed_by_others(s));
  sct_store_close(other);
  sct_store_close(s);
  s = fx_open(f->path, false);
  assert_false(sct_store_changed_by_others(s));
  sct_store_close(s);
}

/* The page that teaches the tables names every table and column there is. */
static void test_documentation_names_every_column(void **state) {
  const fixture *const f = *state;
  sct_store_close(fx_open(f->path, false));
  char *names = fx_ask(f->path, "SELECT group_concat('`' || m.name || '.' || c.name || '`', ' ') "
                                "FROM sqlite_schema m, pragma_table_info(m.name) c "
                                "WHERE m.type = 'table'");
  size_t n = 0;
  char *page = fx_bytes(SCT_ROOT_DIR "/docs/store.md", &n);
  page[n] = '\0';
  int n_names = 0;
  for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
    if (strstr(page, name) == NULL) {
      fail_msg("docs/store.md does not name %s", name);
    }
    ++n_names;
  }
  assert_in_range(n_names, 60, 150);
  free(names);
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_put_twice_is_one_row, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_problem_round_trip, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_a_problem_s_signature_is_renewed, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_device_key_and_round_trip, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_result_round_trip, fx_setup, fx_teardown),
      cmocka_unit_test(test_what_an_outcome_says),
      cmocka_unit_test_setup_teardown(test_listing_without_source, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_replace, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_evaluated_together, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_figures_belong_to_the_device, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_find_resumes, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_order_of_results, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_runs_are_ordered_and_finished, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_what_may_not_be_put, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_others_that_write_are_noticed, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_documentation_names_every_column, fx_setup, fx_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
