/* Recorded sweeps: what the files say is what is replayed, and how the methods do on them. */
#include "search/search_internal.h"
#include "search_fixture.h"
#include "sweeps.h"

#include "store/store.h"

#include <stdint.h>
#include <unistd.h>

#define SWEEPS SCT_TESTS_DIR "/search/h200.json"
#define HELD   SCT_TESTS_DIR "/search/h200_held.json"

static char dir[32];

static int make_dir(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/sct_search_XXXXXX");
  return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
  (void)state;
  static const char *const files[] = {"s.db", "s.db-wal", "s.db-shm", "bad.json"};
  for (int k = 0; k < SCT_COUNT(files); k++) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", dir, files[k]);
    unlink(path);
  }
  return rmdir(dir);
}

static void recorded_sweeps_are_whole(void **state) {
  (void)state;
  static const struct {
    const char *kernel, *size;
    int n;
    double best_ns;
  } expected[] = {
      {"add_const_double3", "i=1048576", 865, 12930},
      {"add_const_double3", "i=67108864", 865, 738020},
      {"particle_aos_to_aos", "i=19173952", 879, 246500},
      {"transpose_f32", "row=256 col=300", 1076, 1696.2},
      {"transpose_f32", "row=1000000 col=7", 664, 16226},
      {"transpose_f32", "row=7 col=1000000", 746, 16944},
      {"transpose_f32", "row=4096 col=4096", 1016, 33588},
      {"transpose_f32", "row=8191 col=8191", 618, 136550},
      {"transpose_u8", "row=16383 col=16383", 592, 147380},
      {"transpose_u8", "row=16384 col=16384", 944, 132020},
      {"particle_soa_to_aos", "i=19173952", 561, 247710},
      {"particle_aos_to_soa", "i=19173952", 666, 251260},
      {"stencil2d_f32", "row=4099 col=2047", 56, 22079},
      {"stencil2d_f32", "row=8192 col=8192", 212, 127550},
      {"stencil3d_f32", "z=129 y=251 x=307", 78, 32904},
      {"stencil3d_f32", "z=512 y=512 x=512", 204, 268100},
      {"sum_cols_f32", "row=8191 col=8193", 108, 64588},
      {"sum_cols_f32", "row=16384 col=16384", 308, 237980},
      {"shifted_u8", "i=268435456", 262, 124140},
      {"indirect_f64", "i=10000 m=10000 pick=identity", 166, 1385.2},
      {"indirect_f64", "i=10000 m=10000 pick=permuted", 166, 1389.5},
      {"indirect_f64", "i=16777216 m=16777216 pick=identity", 166, 78241},
      {"indirect_f64", "i=16777216 m=16777216 pick=permuted", 166, 304610},
      {"gather_rows64", "i=16777216 m=16777216 pick=permuted", 237, 710210},
      {"permute_102_f32", "i=512 j=512 k=512", 321, 260990},
      {"permute_102_f32", "i=501 j=900 k=299", 126, 268610},
      {"record64_soa_to_aos", "i=8388608", 472, 252130},
      {"transpose_f64", "row=200 col=256", 608, 1757.2},
      {"transpose_f64", "row=1000000 col=7", 387, 30081},
      {"transpose_f64", "row=7 col=1000000", 479, 30550},
      {"transpose_f64", "row=8191 col=8191", 364, 267940},
      {"transpose_f16", "row=16383 col=16383", 635, 277120},
      {"permute_021_f32", "i=40 j=64 k=50", 964, 2071},
      {"permute_021_f32", "i=511 j=513 k=509", 663, 262660},
      {"permute_210_f32", "i=40 j=64 k=50", 1050, 2281.7},
      {"permute_210_f32", "i=511 j=513 k=509", 675, 290140},
      {"permute_210_f32", "i=512 j=512 k=512", 1220, 266660},
      {"permute5_f32", "i=300 j=29 k=3 l=257 m=20", 955, 275140},
      {"permute5_f32", "i=32 j=7 k=300 l=16 m=125", 823, 293760},
      {"permute6_f32", "i=40 j=5 k=90 l=4 m=24 n=78", 1516, 270620},
      {"scatter_f32", "i=16777216 m=16777216 pick=permuted", 270, 329020},
      {"sum_all_f32", "row=8191 col=8193", 168, 61389},
      {"sum_all_f32", "row=16384 col=16384", 168, 235660},
      {"sum_rows_f32", "row=8191 col=8193", 66, 60432},
      {"sum_rows_f32", "row=16384 col=16384", 160, 232380},
      {"record36_aos_to_aos", "i=14912512", 769, 247070},
      {"record28_soa_to_aosoa", "i=19173952", 518, 246560},
  };
  sct_replay r;
  sct_error err = {0};
  assert_int_equal(sct_replay_open(&r, SWEEPS, &err), SCT_OK);
  assert_int_equal(r.n_sweeps, SCT_COUNT(expected));
  for (int k = 0; k < r.n_sweeps; k++) {
    const sct_sweep *s = &r.sweeps[k];
    assert_string_equal(s->kernel, expected[k].kernel);
    assert_string_equal(s->size, expected[k].size);
    assert_string_equal(s->device, "NVIDIA H200");
    assert_int_equal(s->problem.n_points, expected[k].n);
    assert_true(fabs(s->best_ns / expected[k].best_ns - 1.0) < 1e-3);
    int n_naive = 0, n_predicted = 0, n_penalized = 0;
    for (int i = 0; i < s->problem.n_points; i++) {
      n_naive += s->problem.points[i].first;
      n_predicted += s->problem.points[i].predicted > 0.0;
      n_penalized += s->problem.points[i].penalty[SCT_PENALTY_REQUESTS] > 0.0;
    }
    assert_int_equal(n_naive, 1);
    assert_int_equal(n_predicted, expected[k].n);
    assert_in_range(n_penalized, 9 * expected[k].n / 10, expected[k].n); /* bulk copies have none */
  }
  sct_replay_free(&r);
}

static void tries_are_drawn_from_the_samples(void **state) {
  (void)state;
  sct_replay r;
  assert_int_equal(sct_replay_open(&r, SWEEPS, NULL), SCT_OK);
  const sct_sweep *s = &r.sweeps[0];
  sct_rng rng = sct_rng_new(1), again = sct_rng_new(1);
  bool varies = false;
  for (int k = 0; k < 50; k++) {
    const double ns = sct_sweep_try(s, k, &rng);
    const int n = s->n_samples[k];
    assert_true(ns >= s->samples_ns[k][0] && ns <= s->samples_ns[k][n - 1]);
    assert_true(ns == sct_sweep_try(s, k, &again));
    varies = varies || ns != s->median_ns[k];
  }
  assert_true(varies);
  sct_replay_free(&r);
}

/* Candidates tried until one is within 2 % of the best, summed over 5 seeds. */
static int n_near(const sct_sweep *s, const char *method) {
  int sum = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    sct_search *search = NULL;
    sct_rng rng = sct_rng_new(seed);
    bool found = false;
    sct_search_new(&search, method_named(method), &s->problem, seed);
    for (int n = 0; !found && n < s->problem.n_points; n++, sum++) { /* noise may hide the best */
      const int k = sct_search_next(search);
      assert_true(k >= 0);
      assert_int_equal(sct_search_report(search, k, sct_sweep_try(s, k, &rng), NULL), SCT_OK);
      found = s->median_ns[search->best] <= 1.02 * s->best_ns;
    }
    sct_search_free(search);
  }
  return sum;
}

/* Kernels on which nothing was chosen. */
static void the_model_needs_fewer_on_other_kernels(void **state) {
  (void)state;
  sct_replay r;
  sct_error err = {0};
  int model = 0, chance = 0;
  assert_int_equal(sct_replay_open(&r, HELD, &err), SCT_OK);
  assert_int_equal(r.n_sweeps, 28);
  for (int k = 0; k < r.n_sweeps; k++) {
    model += n_near(&r.sweeps[k], "model");
    chance += n_near(&r.sweeps[k], "random");
  }
  assert_in_range(model, 5 * 56, 21 * chance / 100);
  sct_replay_free(&r);
}

static void the_model_needs_fewer_on_recorded_sweeps(void **state) {
  (void)state;
  sct_replay r;
  int model = 0, chance = 0;
  assert_int_equal(sct_replay_open(&r, SWEEPS, NULL), SCT_OK);
  for (int k = 0; k < r.n_sweeps; k++) {
    model += n_near(&r.sweeps[k], "model");
    chance += n_near(&r.sweeps[k], "random");
  }
  assert_in_range(model, 5 * 92, 10 * chance / 100); /* 92: naive, then the best */
  sct_replay_free(&r);
}

/* A search of a sweep tries all, and its last best is the best. */
static void a_sweep_is_searched_to_its_end(void **state) {
  (void)state;
  sct_replay r;
  assert_int_equal(sct_replay_open(&r, SWEEPS, NULL), SCT_OK);
  const sct_sweep *s = &r.sweeps[9];
  sct_search_score *scores = calloc((size_t)s->problem.n_points, sizeof *scores);
  int n = 0;
  for (int batch = 1; batch <= 8; batch += 7) {
    assert_int_equal(sct_sweep_search(scores, &n, s, method_named("model"), 1, batch, NULL),
                     SCT_OK);
    assert_int_equal(n, s->problem.n_points);
    assert_true(scores[n - 1].found < 1.02);
  }
  free(scores);
  sct_replay_free(&r);
}

/* ---- stores ---- */

static void put(sct_store *store, const sct_row_run *run, int k, sct_row_outcome *outcome,
                const char *axes) {
  char hash[16], label[16];
  snprintf(hash, sizeof hash, "hash%d", k);
  snprintf(label, sizeof label, "flat t%d", k);
  sct_row_candidate c = {.problem = run->problem,
                         .source_hash = hash,
                         .label = label,
                         .strategy = "flat",
                         .axes = (char *)(uintptr_t)axes,
                         .source = "",
                         .kernel = "k"};
  sct_error err = {0};
  outcome->run = run->id;
  assert_int_equal(sct_store_put_result(store, &c, outcome, false, &err), SCT_OK);
}

static void fill_store(const char *path, bool timed, const char *axes) {
  sct_store *store = NULL;
  sct_row_problem problem = {
      .name = "shift", .spec_hash = "00", .spec_file = "s.lua", .canonical = "kernel shift"};
  sct_row_device device = {.name = "Some GPU", .uuid = "GPU-1", .cc_major = 9};
  device.description = (char *)(uintptr_t) "{\"l2_bytes\":32000}";
  assert_int_equal(sct_store_open(&store, path, false, NULL), SCT_OK);
  assert_int_equal(sct_store_put_problem(store, &problem, NULL), SCT_OK);
  assert_int_equal(sct_store_put_device(store, &device, NULL), SCT_OK);
  sct_row_run run = {.problem = problem.id,
                     .device = device.id,
                     .size_label = "i=1000",
                     .extents = "{\"i\":1000}",
                     .read_bytes = 4000,
                     .write_bytes = 4000,
                     .started = "2024-06-11T10:00:00Z"};
  assert_int_equal(sct_store_put_run(store, &run, NULL), SCT_OK);
  double samples[] = {130, 110, 120};
  sct_row_outcome naive = {.outcome = "ok", .times.median_ns = timed ? 120 : 0, .predicted_ns = 90};
  naive.times.samples_ns = samples;
  naive.times.n_samples = timed ? 3 : 0;
  sct_row_outcome quick = {.outcome = "ok", .times.q1_ns = 45, .times.q3_ns = 55};
  quick.times.median_ns = timed ? 50 : 0;
  sct_row_outcome failed = {.outcome = "wrong_result"}, unfit = {.outcome = "ok"};
  put(store, &run, 1, &naive, axes);
  put(store, &run, 2, &quick, "{\"threads\":128,\"hint\":\"cs\",\"skew\":true}");
  put(store, &run, 3, &failed, "{\"threads\":256}");
  put(store, &run, 4, &unfit, "{\"threads\":512}");
  run.naive = naive.id;
  assert_int_equal(sct_store_finish_run(store, &run, NULL), SCT_OK);
  sct_store_close(store);
}

static void stores_are_replayed(void **state) {
  (void)state;
  char path[64];
  sct_replay r;
  sct_error err = {0};
  snprintf(path, sizeof path, "%s/s.db", dir);
  fill_store(path, true, "{\"threads\":64,\"hint\":\"none\"}");
  if (sct_replay_open(&r, path, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(r.n_sweeps, 1);
  const sct_sweep *s = &r.sweeps[0];
  assert_string_equal(s->kernel, "shift");
  assert_string_equal(s->size, "i=1000");
  assert_string_equal(s->device, "Some GPU");
  assert_true(s->best_ns == 50.0 && s->try_ns > 0.0);
  assert_int_equal(s->problem.n_points, 3); /* what does not fit is left out */
  assert_int_equal(s->problem.n_axes, 4);   /* strategy, threads, hint, skew */
  /* as they were stored, not by time */
  assert_true(s->problem.points[0].first && s->median_ns[0] == 120.0 && s->median_ns[1] == 50.0);
  int n_naive = 0, n_failed = 0;
  sct_rng rng = sct_rng_new(7);
  for (int k = 0; k < 3; k++) {
    const double ns = sct_sweep_try(s, k, &rng);
    n_naive += s->problem.points[k].first;
    n_failed += ns == 0.0;
    if (s->problem.points[k].first) {
      assert_true(s->problem.points[k].predicted == 90.0);
      assert_true(ns == 110.0 || ns == 120.0 || ns == 130.0);
    }
  }
  assert_int_equal(n_naive, 1);
  assert_int_equal(n_failed, 1);
  bool found = false; /* true and false are 1 and 0, as in a space */
  for (int a = 0; a < s->problem.n_axes; a++) {
    const sct_search_axis *axis = &s->problem.axes[a];
    found = found || (strcmp(axis->name, "skew") == 0 && strcmp(axis->values[0], "1") == 0);
  }
  assert_true(found);
  sct_search_score scores[3];
  int n = 0;
  assert_int_equal(sct_sweep_search(scores, &n, s, method_named("model"), 1, 2, &err), SCT_OK);
  assert_int_equal(n, 3);
  assert_true(scores[0].found == 120.0 / 50.0 && scores[2].found == 1.0);
  sct_replay_free(&r);
}

static void stores_without_times_are_refused(void **state) {
  (void)state;
  char path[64];
  sct_replay r;
  sct_error err = {0};
  snprintf(path, sizeof path, "%s/s.db", dir);
  fill_store(path, false, "{\"threads\":64}");
  assert_int_equal(sct_replay_open(&r, path, &err), SCT_EDATA);
  assert_non_null(strstr(err.text, "no candidate has a time"));
  assert_int_equal(r.n_sweeps, 0);
}

/* ---- files ---- */

/* -n stands for the next n axes, which a candidate lacks. */
static void lacking_axes_are_counted(void **state) {
  (void)state;
  static const char text[] =
      "{\"device\":\"D\",\"kernels\":[{\"name\":\"k\",\"try_ms\":1,\"naive\":[0],\"axes\":[[\"s\",["
      "\"x\",\"y\"]],[\"t\",[\"1\",\"2\"]],[\"u\",[\"3\"]],[\"v\",[\"4\",\"5\"]]],"
      "\"candidates\":[[1,-2,1],[-1,1,0,-1],[0,-3]],\"sizes\":[{\"label\":\"z\",\"predicted_ns\":["
      "1,1,1],"
      "\"median_ns\":[5,6,7]}]}]}";
  static const char *const expected[3][4] = {
      {"y", NULL, NULL, "5"}, {NULL, "2", "3", NULL}, {"x", NULL, NULL, NULL}};
  char path[64];
  sct_replay r;
  sct_error err = {0};
  snprintf(path, sizeof path, "%s/bad.json", dir);
  assert_int_equal(sct_file_write(path, text, strlen(text), NULL), SCT_OK);
  if (sct_replay_open(&r, path, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  const sct_search_problem *p = &r.sweeps[0].problem;
  assert_int_equal(p->n_points, 3);
  for (int k = 0; k < 3; k++) {
    for (int a = 0; a < p->n_axes; a++) {
      const int16_t v = p->points[k].value[a];
      const char *value = expected[k][strcspn("stuv", p->axes[a].name)];
      assert_int_equal(v < 0, value == NULL);
      if (value) {
        assert_string_equal(p->axes[a].values[v], value);
      }
    }
  }
  sct_replay_free(&r);
}

static void wrong_files_are_refused(void **state) {
  (void)state;
#define AXES  "\"axes\":[[\"t\",[\"1\",\"2\"]]]"
#define START "{\"device\":\"D\",\"kernels\":[{\"name\":\"k\",\"try_ms\":1,\"naive\":[0],"
#define LISTS "\"order\":[0],\"median_ns\":[5],\"q1_ns\":[4],"
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"", "not JSON"},
      {"{\"device\":\"D\",\n\"kernels\":[}", "bad.json:2: error"},
      {"{}", "expected the members device and kernels"},
      {START AXES ",\"sizes\":[]}]}", "expected in every kernel"},
      {START AXES ",\"candidates\":[[0]],\"sizes\":[{\"label\":\"z\"}]}]}", "in every list"},
      {START AXES ",\"candidates\":[[2]],\"sizes\":[{\"label\":\"z\",\"predicted_ns\":[1]," LISTS
                  "\"q3_ns\":[6]}]}]}",
       "values of their axis"},
      {START AXES ",\"candidates\":[[]],\"sizes\":[{\"label\":\"z\",\"predicted_ns\":[1]," LISTS
                  "\"q3_ns\":[6]}]}]}",
       "a place on each axis"},
      {START AXES ",\"candidates\":[[-2]],\"sizes\":[{\"label\":\"z\",\"predicted_ns\":[1]," LISTS
                  "\"q3_ns\":[6]}]}]}",
       "a place on each axis"},
      {START AXES ",\"candidates\":[[0]],\"sizes\":[{\"label\":\"z\",\"predicted_ns\":[1]," LISTS
                  "\"q3_ns\":[3]}]}]}",
       "quartiles"},
      {START AXES ",\"candidates\":[[0]],\"sizes\":[{\"label\":\"z\",\"predicted_ns\":[1]," LISTS
                  "\"q3_ns\":[6],\"penalties\":{\"requests\":[1]}}]}]}",
       "for every penalty"},
  };
  char path[64];
  snprintf(path, sizeof path, "%s/bad.json", dir);
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_replay r;
    sct_error err = {0};
    assert_int_equal(sct_file_write(path, cases[k].text, strlen(cases[k].text), NULL), SCT_OK);
    assert_int_equal(sct_replay_open(&r, path, &err), SCT_EDATA);
    if (!strstr(err.text, cases[k].said)) {
      fail_msg("case %d: '%s' lacks '%s'", k, err.text, cases[k].said);
    }
  }
  sct_replay r;
  sct_error err = {0};
  assert_int_equal(sct_replay_open(&r, "/nowhere/s.db", &err), SCT_EIO);
  assert_non_null(strstr(err.text, "/nowhere/s.db"));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
  const struct CMUnitTest tests[] = {
      TEST(recorded_sweeps_are_whole),
      TEST(tries_are_drawn_from_the_samples),
      TEST(the_model_needs_fewer_on_recorded_sweeps),
      TEST(the_model_needs_fewer_on_other_kernels),
      TEST(a_sweep_is_searched_to_its_end),
      TEST(stores_are_replayed),
      TEST(stores_without_times_are_refused),
      TEST(lacking_axes_are_counted),
      TEST(wrong_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
