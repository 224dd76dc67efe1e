/* Files from elsewhere: what is right becomes rows, what is malformed is refused with its place and
 * changes nothing. */
#include "store_fixture.h"

static char *text_of(const char *text) {
  return (char *)(uintptr_t)text;
}

static const char *path_of(const fixture *f, const char *name) {
  static char paths[8][160];
  static int k;
  char *const path = paths[k++ % 8];
  (void)snprintf(path, sizeof(paths[0]), "%s/%s", f->dir, name);
  return path;
}

/* ---- the files, when they are right ---- */

static const char kernel_tuner[] =
    "{\n\"device_name\": \"NVIDIA A100\",\n\"kernel_name\": \"convolution\",\n"
    "\"problem_size\": [4096, 1024],\n"
    "\"tune_params_keys\": [\"block_size_x\", \"use_padding\", \"mode\"],\n"
    "\"tune_params\": {\"block_size_x\": [16, 32], \"use_padding\": [0.5], \"mode\": [\"a\"]},\n"
    "\"objective\": [\"time\"],\n\"cache\": {\n"
    "\"16,0.5,a\": {\"block_size_x\": 16, \"use_padding\": 0.5, \"mode\": \"a\", \"time\": 1.25, "
    "\"times\": [1.5, 1.0, 1.25], \"timestamp\": \"2024-05-01T10:00:00+00:00\"},\n"
    "\"32,0.5,a\": {\"block_size_x\": 32, \"use_padding\": 0.5, \"mode\": \"a\", \"time\": "
    "\"RuntimeFailedConfig\"},\n"
    "\"64,0.5,a\": {\"block_size_x\": 64, \"use_padding\": 0.5, \"mode\": \"a\", \"time\": 9, "
    "\"__error__\": \"CompilationFailedConfig\"}}\n}";

static const char t4[] =
    "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"microseconds\"}, \"results\": ["
    "{\"configuration\": {\"x\": 1, \"y\": \"b\"}, \"times\": {\"runtimes\": [2.0, 4.0], "
    "\"compilation\": 7}, \"invalidity\": \"correct\", \"correctness\": 1},"
    "{\"configuration\": {\"x\": 2, \"y\": \"b\"}, \"times\": {\"runtimes\": []}, \"invalidity\": "
    "\"timeout\", \"correctness\": 0}]}";

static char *ours(const fixture *f) {
  sct_store *const s = fx_open(path_of(f, "ours.db"), false);
  sct_row_run run = fx_run(s);
  sct_id id = 0;
  sct_str out = {0};
  FX_OK(fx_put(s, &run, 1, &id, &err));
  run.winner = id;
  run.finished = text_of("2025-01-01T00:00:00Z");
  FX_OK(sct_store_finish_run(s, &run, &err));
  FX_OK(sct_store_export(s, &out, &err));
  sct_store_close(s);
  return out.data;
}

static sct_status import(const fixture *f, const char *text, size_t n, sct_error *err) {
  const char *const file = path_of(f, "file.json");
  fx_write(file, text, n);
  sct_store *const s = fx_open(f->path, false);
  const sct_status status = sct_store_import(s, file, err);
  sct_store_close(s);
  return status;
}

static void import_ok(const fixture *f, const char *text) {
  sct_error err = {0};
  if (import(f, text, strlen(text), &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static char *all_of(const char *path) {
  sct_str out = {0};
  sct_store *const s = fx_open(path, true);
  FX_OK(sct_store_export(s, &out, &err));
  sct_store_close(s);
  return out.data;
}

static void expect(const char *path, const char *sql, const char *answer) {
  char *text = fx_ask(path, sql);
  assert_string_equal(text, answer);
  free(text);
}

/* ---- foreign files ---- */

static void a_cache_of_kernel_tuner_is_a_problem_of_its_own(void **state) {
  const fixture *const f = *state;
  for (int times = 0; times < 2; ++times) { /* again: nothing more */
    import_ok(f, kernel_tuner);
    expect(f->path, "SELECT name FROM problem", "kernel-tuner:convolution");
    expect(f->path, "SELECT name || ' ' || tool || ' ' || measurement FROM device",
           "NVIDIA A100 Kernel Tuner 0");
    expect(f->path, "SELECT size_label || ' ' || extents FROM run",
           "4096x1024 {\"x\":4096,\"y\":1024}");
    expect(f->path, "SELECT ifnull(winner, 'none') || n_candidates || n_failed FROM run", "none32");
    expect(f->path,
           "SELECT group_concat(outcome, ' ') FROM (SELECT outcome FROM outcome ORDER BY outcome)",
           "compile_error launch_error ok");
    expect(f->path, "SELECT median_ns || ' ' || length(samples_ns) FROM outcome WHERE outcome='ok'",
           "1250000.0 24");
    expect(f->path, "SELECT label FROM candidate WHERE label LIKE '%=16 %'",
           "block_size_x=16 use_padding=0.5 mode=a");
    expect(f->path, "SELECT json_extract(conditions, '$.origin') FROM run", "Kernel Tuner");
  }
}

/* A cache that is being written lacks its end, and maybe half of its last line. */
static void an_open_cache_is_taken_as_far_as_it_goes(void **state) {
  const fixture *const f = *state;
  static const struct {
    const char *until;
    const char *n;
  } cases[] = {{"\n\"32,", "1"}, {"\n\"64,", "2"}, {"\"time\": 9", "2"}, {"\n}", "3"}};
  for (int k = 0; k < SCT_COUNT(cases); ++k) {
    char *const text = strdup(kernel_tuner);
    char *const at = strstr(strstr(text, "\"cache\""), cases[k].until);
    assert_non_null(at);
    *at = '\0';
    (void)remove(f->path);
    import_ok(f, text);
    expect(f->path, "SELECT count(*) FROM outcome", cases[k].n);
    free(text);
  }
}

static void t4_results_are_a_problem_of_their_own(void **state) {
  const fixture *const f = *state;
  import_ok(f, t4);
  expect(f->path, "SELECT name FROM problem", "t4:file.json");
  expect(f->path, "SELECT outcome || ' ' || median_ns FROM outcome ORDER BY id LIMIT 1",
         "ok 3000.0");
  expect(f->path, "SELECT outcome FROM outcome ORDER BY id DESC LIMIT 1", "hang");
}

/* Others write a run from its document: values in order, what ran and was not timed left out. */
static void a_run_as_a_document_has_what_was_timed(void **state) {
  const fixture *const f = *state;
  json_t *doc = NULL;
  import_ok(f, kernel_tuner);
  sct_store *const s = fx_open(f->path, true);
  FX_OK(sct_store_run_json(&doc, s, 1, &err));
  sct_store_close(s);
  SCT_OWNED_PTR(json_t)
  wanted =
      json_pack("[[s, i], [s, f], [s, s]]", "block_size_x", 16, "use_padding", 0.5, "mode", "a");
  SCT_OWNED_PTR(json_t) extents = json_pack("[i, i]", 4096, 1024);
  assert_true(json_equal(json_object_get(doc, "extents"), extents));
  const json_t *const rows = json_object_get(doc, "rows"), *row = NULL;
  size_t k = 0;
  int n_ok = 0;
  assert_int_equal(json_array_size(rows), 3);
  json_array_foreach(rows, k, row) {
    if (strcmp(json_string_value(json_object_get(row, "outcome")), "ok") == 0) {
      assert_true(json_equal(json_object_get(row, "axes"), wanted));
      assert_int_equal(json_array_size(json_object_get(row, "samples_ns")), 3);
      n_ok++;
    }
  }
  assert_int_equal(n_ok, 1);
  json_decref(doc);
}

static void a_run_without_times_is_no_document(void **state) {
  const fixture *const f = *state;
  sct_store *const s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sct_row_candidate c = {.problem = run.problem, .source_hash = text_of("x")};
  sct_row_outcome o = {.run = run.id, .outcome = text_of("ok")};
  json_t *doc = NULL;
  sct_error why = {0};
  FX_OK(sct_store_put_result(s, &c, &o, true, &err));
  assert_int_equal(sct_store_run_json(&doc, s, run.id, &why), SCT_EDATA);
  assert_non_null(strstr(why.text, "nothing was timed"));
  sct_store_close(s);
}

/* ---- malformed files ---- */

typedef struct broken {
  char which;            /* o: ours, k: Kernel Tuner, t: T4 */
  const char *from, *to; /* the first `from` becomes `to`; NULL: all of the file is `to` */
  const char *says;
} broken;

static const broken cases[] = {
    {'o', NULL, "", "error:"},
    {'o', NULL, "{", ":1:"},
    {'o', NULL, "[]", "expected an object"},
    {'o', NULL, "{}", "expected an export of sectile"},
    {'o', NULL, "null", "file.json:"},
    {'o', NULL, "{\"format\": \"other\"}", "expected an export of sectile"},
    {'o', NULL, "\xff\xfe", ":1:"},
    {'o', NULL, "{\"format\":\"sectile-store\",\"format\":\"sectile-store\"}", "duplicate"},
    {'o', "\"schema\":6", "\"schema\":7", "schema: this version of sectile reads 3 to 6"},
    {'o', "\"schema\":6", "\"schema\":2", "schema: this version of sectile reads 3 to 6"},
    {'o', "\"schema\":6", "\"schema\":\"6\"", "schema:"},
    {'o', "\"utilisation\":", "\"utilization\":", "outcomes[0].utilisation: is missing"},
    {'o', "\"devices\"", "\"devicess\"", "devices: expected a list"},
    {'o', "\"problems\":[", "\"problems\":{}, \"x\":[", "problems: expected a list"},
    {'o', "\"problems\":[", "\"problems\":[7,", "problems[0]: expected an object"},
    {'o', "\"cc_major\":9", "\"cc_major\":9.5", "devices[0].cc_major: expected a whole number"},
    {'o', "\"cc_major\":9", "\"cc_major\":99999999999", "devices[0].cc_major"},
    {'o', "\"is_virtual\":false", "\"is_virtual\":0", "devices[0].is_virtual: expected true"},
    {'o', "\"key\":\"", "\"kee\":\"", "devices[0].key: is missing"},
    {'o', "\"uuid\":\"GPU-1\"", "\"uuid\":null", "devices[0].uuid: expected a text"},
    {'o', "\"spec_hash\":\"00ff\"", "\"spec_hash\":\"\"", "problems[0].spec_hash: expected a text"},
    {'o', "\"spec_hash\":\"00ff\",", "", "problems[0].spec_hash: is missing"},
    {'o', "\"canonical\":\"kernel shift\"", "\"canonical\":[1]", "problems[0].canonical"},
    {'o', "{\\\"name\\\":\\\"shift\\\"}", "{no json",
     "problems[0].signature: expected a text that"},
    {'o', "\"candidates\":[", "\"candidates\":[{},", "problems[0].candidates[0].source_hash"},
    {'o', "\"registers\":1", "\"registers\":true", "runs[0].outcomes[0].registers"},
    {'o', "\"samples_ns\":[", "\"samples_ns\":[\"x\",", "outcomes[0].samples_ns: expected a list"},
    {'o', "\"samples_ns\":[", "\"samples_ns\":3,\"x\":[", "outcomes[0].samples_ns"},
    {'o', "\"launches\":0", "\"launches\":1e99", "outcomes[0].launches"},
    {'o', "\"copies\":0", "\"copies\":\"0\"", "outcomes[0].copies: expected a whole number"},
    {'o', "\"candidate\":\"hash", "\"candidate\":\"other",
     "outcomes[0].candidate: expected the key"},
    {'o', "\"winner\":\"hash", "\"winner\":\"other", "runs[0].winner: expected the key"},
    {'o', "\"device\":\"", "\"device\":\"0", "runs[0].device: expected the key"},
    {'o', "\"winner\":", "\"winer\":", "runs[0].winner: expected the key"},
    {'o', "\"size_label\":\"i=1000\"", "\"size_label\":\"\"",
     "runs[0].size_label: expected a text"},
    {'o', "\"raced\":0", "\"raced\":null", "runs[0].raced"},
    {'o', "\"earlier\":[", "\"earlier\":[null", "runs[0].earlier[0]: expected an object"},
    {'o', "\"outcomes\":[", "\"outcomes\":[[],", "runs[0].outcomes[0]: expected an object"},
    {'o', "\"name\":\"shift\"", "\"name\":\"a\\u0000b\"", "file.json:"},
    {'o', "\"read_bytes\":4000", "\"read_bytes\":NaN", "file.json:"},
    {'o', "\"read_bytes\":4000", "\"read_bytes\":1e999", "file.json:"},
    {'k', "\"device_name\": \"NVIDIA A100\"", "\"device_name\": 5", "device_name: expected a text"},
    {'k', "\"convolution\"", "\"\"", "kernel_name: expected a name"},
    {'k', "\"kernel_name\"", "\"kernel\"", "kernel_name: expected a name"},
    {'k', "[4096, 1024]", "[]", "problem_size: expected a size"},
    {'k', "[4096, 1024]", "[1, 2, 3, 4]", "problem_size: expected a number, a list"},
    {'k', "[4096, 1024]", "{}", "problem_size: expected"},
    {'k', "[4096, 1024]", "[[4096]]", "problem_size: expected"},
    {'k', "[\"block_size_x\", \"use_padding\", \"mode\"]", "[]", "tune_params_keys: expected"},
    {'k', "[\"block_size_x\", \"use_padding\", \"mode\"]", "[1]", "tune_params_keys: expected"},
    {'k', "[\"block_size_x\", \"use_padding\", \"mode\"]", "\"a\"", "tune_params_keys: expected"},
    {'k', "\"cache\": {\n", "\"cache\": 1, \"x\": {", "cache: expected an object"},
    {'k', "\"cache\": {\n", "\"cache\": {\"q\": 1,", "cache.q: expected an object"},
    {'k', "{\"block_size_x\": 16,", "{", "cache.16,0.5,a.block_size_x: expected this parameter"},
    {'k', "{\"block_size_x\": 16,", "{\"block_size_x\": [16],", "a.block_size_x: expected"},
    {'k', "\"time\": 1.25", "\"time\": null", "cache.16,0.5,a.time: expected a time in ms"},
    {'k', "\"time\": 1.25", "\"time\": -1", "16,0.5,a.time: expected a time in ms"},
    {'k', "\"time\": 1.25", "\"time\": \"Broken\"", "16,0.5,a.time: expected InvalidConfig"},
    {'k', "[1.5, 1.0, 1.25]", "[1.5, null]", "16,0.5,a.times: expected times"},
    {'k', "[1.5, 1.0, 1.25]", "{}", "16,0.5,a.times: expected a list"},
    {'k', "\"CompilationFailedConfig\"", "\"Why\"", "64,0.5,a.__error__: expected InvalidConfig"},
    {'t', "\"results\": [", "\"results\": 1, \"x\": [", "results: expected a list"},
    {'t', "\"results\": [", "\"results\": [0,", "results[0].configuration: expected an object"},
    {'t', "\"microseconds\"", "\"weeks\"", "metadata.timeunit: expected"},
    {'t', "{\"x\": 1, \"y\": \"b\"}", "[]", "results[0].configuration: expected an object"},
    {'t', "{\"x\": 1, \"y\": \"b\"}", "{\"x\": []}", "results[0].configuration: expected numbers"},
    {'t', "{\"runtimes\": []}", "4", "results[1].times: expected an object"},
    {'t', "[2.0, 4.0]", "[2.0, -4.0]", "results[0].times.runtimes: expected times"},
    {'t', "[2.0, 4.0]", "\"2\"", "results[0].times.runtimes: expected a list"},
    {'t', "\"timeout\"", "\"late\"", "results[1].invalidity: expected correct"},
    {'t', "\"invalidity\": \"correct\", ", "", "results[0].invalidity: expected correct"},
};

static char *replaced(const char *text, const char *from, const char *to) {
  const char *const at = from != NULL ? strstr(text, from) : text;
  if (at == NULL) {
    fail_msg("no '%s' in %s", from, text);
  }
  char *const out = malloc(strlen(text) + strlen(to) + 1);
  assert_non_null(out);
  (void)sprintf(out, "%.*s%s%s", from != NULL ? (int)(at - text) : 0, text, to,
                from != NULL ? at + strlen(from) : "");
  return out;
}

/* What Kernel Tuner writes as the size: old versions nothing, others words that it evaluates. */
static void sizes_of_kernel_tuner(void **state) {
  const fixture *const f = *state;
  static const struct {
    const char *from, *to, *label, *extents;
  } sizes[] = {
      {"[4096, 1024]", "4096", "4096", "{\"x\":4096}"},
      {"[4096, 1024]", "\"callable\"", "callable", "{}"},
      {"[4096, 1024]", "[\"width\", 1024]", "widthx1024", "{\"y\":1024}"},
      {"[4096, 1024]", "null", "?", "{}"},
      {"\"problem_size\": [4096, 1024],\n", "", "?", "{}"},
  };
  for (int k = 0; k < SCT_COUNT(sizes); ++k) {
    char *const text = replaced(kernel_tuner, sizes[k].from, sizes[k].to);
    char both[64];
    (void)snprintf(both, sizeof(both), "%s %s", sizes[k].label, sizes[k].extents);
    (void)remove(f->path);
    import_ok(f, text);
    expect(f->path, "SELECT size_label || ' ' || extents FROM run", both);
    expect(f->path, "SELECT count(*) FROM outcome", "3");
    free(text);
  }
}

static void malformed_files_change_nothing(void **state) {
  const fixture *const f = *state;
  char *const good = ours(f);
  import_ok(f, good);
  char *const before = all_of(f->path);
  for (int k = 0; k < SCT_COUNT(cases); ++k) {
    const broken *const c = &cases[k];
    const char *const base = c->which == 'o' ? good : c->which == 'k' ? kernel_tuner : t4;
    char *const text = replaced(base, c->from, c->to);
    sct_error err = {0};
    const sct_status status = import(f, text, strlen(text), &err);
    if (status != SCT_EDATA || strstr(err.text, c->says) == NULL ||
        strstr(err.text, "file.json") == NULL || strstr(err.text, "othing was imported") == NULL) {
      fail_msg("case %d, '%s': %d: %s", k, c->to, (int)status, err.text);
    }
    char *const after = all_of(f->path);
    assert_string_equal(after, before);
    sct_free(after);
    free(text);
  }
  sct_free(before);
  sct_free(good);
}

/* Cut off anywhere and with any byte changed: refused or read, never a crash; what is refused
 * changes nothing. */
static void any_damage_is_survived(void **state) {
  const fixture *const f = *state;
  char *const good = ours(f);
  const char *const bases[] = {good, kernel_tuner, t4};
  sct_rng rng = sct_rng_new(4);
  sct_store *const s = fx_open(f->path, false);
  int n_refused = 0;
  for (int k = 0; k < 300; ++k) {
    char *const text = strdup(bases[k % 3]);
    size_t n = strlen(text);
    if (k % 2 == 0) {
      n = (size_t)sct_rng_below(&rng, (int64_t)n);
    } else {
      text[sct_rng_below(&rng, (int64_t)n)] = (char)sct_rng_below(&rng, 256);
    }
    const char *const file = path_of(f, "file.json");
    fx_write(file, text, n);
    sct_error err = {0};
    n_refused += sct_store_import(s, file, &err) != SCT_OK;
    free(text);
  }
  assert_in_range(n_refused, 100, 300);
  sct_store_close(s);
  fx_check_integrity(f->path);
  sct_free(good);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_cache_of_kernel_tuner_is_a_problem_of_its_own, fx_setup,
                                      fx_teardown),
      cmocka_unit_test_setup_teardown(an_open_cache_is_taken_as_far_as_it_goes, fx_setup,
                                      fx_teardown),
      cmocka_unit_test_setup_teardown(t4_results_are_a_problem_of_their_own, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(a_run_as_a_document_has_what_was_timed, fx_setup,
                                      fx_teardown),
      cmocka_unit_test_setup_teardown(a_run_without_times_is_no_document, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(sizes_of_kernel_tuner, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(malformed_files_change_nothing, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(any_damage_is_survived, fx_setup, fx_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
