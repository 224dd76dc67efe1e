/* The commands about stores: merge, export, import, compare. */
#include "cli_fixture.h"

#include "store/store.h"

static char *text_of(const char *text) {
  return (char *)(uintptr_t)text;
}

#define OK(call)                                                                                   \
  do {                                                                                             \
    sct_error err = {0};                                                                           \
    if ((call) != SCT_OK) {                                                                        \
      fail_msg("%s", err.text);                                                                    \
    }                                                                                              \
  } while (0)

typedef struct row {
  const char *label, *outcome;
  double ns; /* the median; below 0: not timed, predicted to be that without its sign */
} row;

/* A store with a kernel "move" of these candidates, of which the first wins. */
static const char *make_store(const char *name, const char *driver, const char *measured,
                              const row *rows, int n) {
  const char *path = fx_path(name);
  sct_store *s = NULL;
  OK(sct_store_open(&s, path, false, &err));
  sct_row_problem p = {.name = text_of("move"), .spec_hash = text_of("aa")};
  sct_row_device d = {.name = text_of("GPU X"),
                      .uuid = text_of("GPU-1"),
                      .driver = text_of(driver),
                      .device_id = text_of("cuda:0")};
  OK(sct_store_put_problem(s, &p, &err));
  OK(sct_store_put_device(s, &d, &err));
  sct_row_run run = {.problem = p.id,
                     .device = d.id,
                     .size_label = text_of("i=64"),
                     .extents = text_of("{\"i\":64}"),
                     .started = text_of(measured),
                     .conditions = text_of("{\"seed\":1}")};
  OK(sct_store_put_run(s, &run, &err));
  for (int k = 0; k < n; k++) {
    double samples[21];
    for (int i = 0; i < SCT_COUNT(samples); i++) {
      samples[i] = rows[k].ns * (1 + 0.0001 * (i - 10));
    }
    const bool good = strcmp(rows[k].outcome, "ok") == 0, timed = good && rows[k].ns > 0;
    sct_row_candidate c = {.problem = p.id,
                           .source_hash = text_of(rows[k].label),
                           .label = text_of(rows[k].label),
                           .strategy = text_of("direct"),
                           .axes = text_of("{\"threads\":256}")};
    sct_row_outcome o = {.run = run.id,
                         .outcome = text_of(rows[k].outcome),
                         .times.median_ns = timed ? rows[k].ns : 0,
                         .predicted_ns = good && !timed ? -rows[k].ns : 0,
                         .times.samples_ns = samples,
                         .times.n_samples = timed ? SCT_COUNT(samples) : 0,
                         .measured = text_of(measured)};
    OK(sct_store_put_result(s, &c, &o, true, &err));
    run.winner = k == 0 ? o.id : run.winner;
  }
  run.finished = text_of(measured);
  OK(sct_store_finish_run(s, &run, &err));
  sct_store_close(s);
  return path;
}

static const row before[] = {{"direct t256", "ok", 1000},
                             {"direct t128", "ok", 1100},
                             {"direct t512", "ok", 1200},
                             {"gone", "ok", 5000}};
static const row after[] = {{"direct t128", "ok", 1000},
                            {"direct t256", "ok", 1001},
                            {"direct t512", "wrong_result", 0},
                            {"new", "ok", 4000}};

/* ---- compare ---- */

static void compare_gives_verdicts_and_names_the_winner(void **state) {
  (void)state;
  make_store("a.db", "570.1", "2025-01-01T00:00:00Z", before, SCT_COUNT(before));
  make_store("b.db", "580.2", "2025-02-01T00:00:00Z", after, SCT_COUNT(after));
  fx_result r = {0};
  fx_run(&r, "compare", "a.db", "b.db");
  fx_expect(&r, 0, "winner changed: direct t256 -> direct t128", NULL);
  fx_run(&r, "compare", "a.db", "b.db");
  fx_expect(&r, 0, "conditions differ: driver 570.1 -> 580.2", NULL);
  fx_run(&r, "compare", "a.db", "b.db");
  fx_expect(&r, 0, "1 FAST 0 SLOW 1 SAME 0 AMBIGUOUS; 1 only in A, 1 only in B", NULL);
  fx_run(&r, "compare", "a.db", "b.db", "--size", "i=63");
  fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "'a.db' has no results at size 'i=63'");
  fx_run(&r, "compare", "b.db", "a.db");
  fx_expect(&r, 0, "0 FAST 1 SLOW 1 SAME 0 AMBIGUOUS; 1 only in A, 1 only in B", NULL);
  fx_run(&r, "compare", "a.db", "a.db");
  fx_expect(&r, 0, "same winner: direct t256", NULL);
  fx_free(&r);
}

static const json_t *of_label(const json_t *list, const char *label) {
  const json_t *item = NULL;
  size_t k = 0;
  json_array_foreach(list, k, item) {
    if (strcmp(json_string_value(json_object_get(item, "label")), label) == 0) {
      return item;
    }
  }
  fail_msg("no '%s'", label);
  return NULL;
}

static const char *text_at(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static void compare_as_json(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "compare", "a.db", "b.db", "--json");
  assert_int_equal(r.exit_code, 0);
  json_t *doc = json_loads(sct_str_c(&r.out), 0, NULL);
  const json_t *group = json_array_get(json_object_get(doc, "groups"), 0);
  const json_t *list = json_object_get(group, "candidates");
  assert_string_equal(text_at(group, "winner_b"), "direct t128");
  assert_true(json_is_true(json_object_get(group, "winner_changed")));
  assert_int_equal(json_array_size(json_object_get(group, "conditions")), 1);
  assert_string_equal(text_at(of_label(list, "direct t128"), "verdict"), "FAST");
  assert_string_equal(text_at(of_label(list, "direct t256"), "verdict"), "SAME");
  assert_string_equal(text_at(of_label(list, "direct t512"), "verdict"), "");
  assert_string_equal(text_at(of_label(list, "direct t512"), "b_outcome"), "wrong_result");
  const double ratio = json_number_value(json_object_get(of_label(list, "direct t128"), "ratio"));
  assert_true(ratio > 0.908 && ratio < 0.910);
  json_decref(doc);
  fx_free(&r);
}

/* One store that has measured twice: what it knew then, and what it knows now. */
/* What the store c.db knew of the kernel then against what it knows. */
static void compare_since(fx_result *r, const char *date) {
  char word[64];
  snprintf(word, sizeof word, "move@%s", date);
  fx_run(r, "compare", word, "move@", "--store", "c.db");
}

static void compare_of_dates(void **state) {
  (void)state;
  make_store("c.db", "570.1", "2025-01-01T00:00:00Z", before, SCT_COUNT(before));
  make_store("c.db", "570.1", "2025-02-01T00:00:00Z", after, SCT_COUNT(after));
  fx_result r = {0};
  fx_run(&r, "compare", "move@2025-01", "move@", "--store", "c.db");
  fx_expect(&r, 0, "1 FAST 0 SLOW 2 SAME 0 AMBIGUOUS; 0 only in A, 1 only in B", NULL);
  fx_run(&r, "compare", "move@2025-01", "move@", "--store", "c.db");
  fx_expect(&r, 0,
            "winner of A is not known: it was decided anew later; the fastest was direct t256",
            NULL);
  assert_null(strstr(sct_str_c(&r.out), "winner changed"));
  fx_run(&r, "compare", "move@2025-01", "move@", "--store", "c.db", "--json");
  fx_expect(&r, 0, "\"winner_a\": null", NULL);
  fx_expect(&r, 0, "\"winner_changed\": false", NULL);
  fx_run(&r, "compare", "move@2025-02", "move@", "--store", "c.db");
  fx_expect(&r, 0, "same winner: direct t128", NULL);
  fx_run(&r, "compare", "move@2024", "move@", "--store", "c.db");
  fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "no results of that time");
  static const char *const wrong[] = {"soon",
                                      "2025-1",
                                      "2025-13",
                                      "2025-00",
                                      "2025-02-3",
                                      "2025-02-32",
                                      "2025-02-01T24",
                                      "2025-02-01T1",
                                      "20250201",
                                      "2025-02-01T10:61",
                                      "2025-02-01T10Z",
                                      "99999",
                                      "-1",
                                      "2025-02-01T10:00:00+01:00",
                                      "2025-02-01T10:00:00.5"};
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    compare_since(&r, wrong[k]);
    fx_expect(&r, sct_exit_code(SCT_EUSAGE), NULL, "expected a date after the @");
  }
  static const char *const right[] = {"2025",
                                      "2025-02",
                                      "2025-12-31",
                                      "2025-02-01T00",
                                      "2025-02-01T00:00",
                                      "2025-02-01T00:00:00",
                                      "2025-02-01T00:00:00Z",
                                      "2025-02-01T00:00:00.000Z"};
  for (int k = 0; k < SCT_COUNT(right); k++) {
    compare_since(&r, right[k]);
    fx_expect(&r, 0, "0 only in A, ", NULL);
  }
  fx_run(&r, "compare", "nowhere.db", "c.db");
  fx_expect(&r, sct_exit_code(SCT_EIO), NULL, "nowhere.db");
  fx_free(&r);
}

/* ---- merge, export, import ---- */

static void same_file(const char *a, const char *b) {
  sct_str x = {0}, y = {0};
  OK(sct_file_read(&x, fx_path(a), &err));
  OK(sct_file_read(&y, fx_path(b), &err));
  assert_string_equal(sct_str_c(&x), sct_str_c(&y));
  sct_str_free(&x);
  sct_str_free(&y);
}

static void merge_and_export_do_not_know_order(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "merge", "ab.db", "a.db", "b.db", "c.db");
  fx_expect(&r, 0, NULL, "merged 3 stores into ab.db");
  fx_run(&r, "merge", "ba.db", "c.db", "b.db");
  fx_expect(&r, 0, NULL, "merged 2 stores");
  fx_run(&r, "merge", "ba.db", "a.db");
  fx_expect(&r, 0, NULL, "merged 1 store into");
  fx_run(&r, "export", "--store", "ab.db", "-o", "ab.json");
  fx_expect(&r, 0, NULL, NULL);
  fx_run(&r, "export", "--store", "ba.db", "-o", "ba.json");
  fx_expect(&r, 0, NULL, NULL);
  same_file("ab.json", "ba.json");
  fx_run(&r, "import", "ab.json", "--store", "copy.db");
  fx_expect(&r, 0, NULL, "imported ab.json");
  fx_run(&r, "export", "--format", "json", "--store", "copy.db", "-o", "copy.json");
  fx_expect(&r, 0, NULL, NULL);
  same_file("ab.json", "copy.json");
  fx_free(&r);
}

/* A source that is none ends it before the target is made. */
static void merge_checks_its_sources_first(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("text.db", "this is no store at all");
  fx_run(&r, "merge", "made.db", "a.db", "text.db");
  fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "is no store");
  assert_false(sct_file_exists(fx_path("made.db")));
  fx_run(&r, "merge", "made.db");
  fx_expect(&r, sct_exit_code(SCT_EUSAGE), NULL, "merge");
  fx_free(&r);
}

static void export_to_others_needs_one_run(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "export", "--store", "a.db", "--format", "kernel-tuner");
  fx_expect(&r, 0, "\"device_name\": \"GPU X\"", NULL);
  fx_run(&r, "export", "--store", "a.db", "--format", "t4");
  fx_expect(&r, 0, "\"invalidity\": \"correct\"", NULL);
  fx_run(&r, "export", "--store", "a.db", "--format", "t4", "-d", "GPU X");
  fx_expect(&r, 0, "\"invalidity\": \"correct\"", NULL);
  fx_run(&r, "export", "--store", "ab.db", "--format", "t4");
  fx_expect(&r, sct_exit_code(SCT_EUSAGE), NULL, "move --size \"i=64\" --device");
  fx_run(&r, "export", "other", "--store", "a.db", "--format", "t4");
  fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "no run in this store fits 'other'");
  fx_run(&r, "export", "--format", "kernel_tuner", "--store", "a.db");
  fx_expect(&r, sct_exit_code(SCT_EUSAGE), NULL, "kernel-tuner");
  fx_run(&r, "export", "move", "--store", "a.db");
  fx_expect(&r, sct_exit_code(SCT_EUSAGE), NULL, "holds the whole store");
  fx_free(&r);
}

/* Two rows that differ in no parameter, other parameters, and every kind of value. */
static const char cache[] =
    "{\"device_name\": \"A\\u00e9 \\\"x\\\"\", \"kernel_name\": \"conv\", \"problem_size\": [4096, "
    "1024],\n"
    "\"tune_params_keys\": [\"size_x\", \"pad\", \"mode\", \"flag\"], \"tune_params\": {},\n"
    "\"objective\": \"time\", \"cache\": {\n"
    "\"16,0.5,a,True\": {\"size_x\": 16, \"pad\": 0.5, \"mode\": \"a\", \"flag\": true, \"time\": "
    "1.25, "
    "\"times\": [1.5, 1.0, 1.25], \"timestamp\": \"2024-05-01T10:00:00+00:00\"},\n"
    "\"32,0.5,a,False\": {\"size_x\": 32, \"pad\": 0.5, \"mode\": \"a\", \"flag\": false, "
    "\"time\": "
    "\"RuntimeFailedConfig\"},\n"
    "\"64,1.0,a,True\": {\"size_x\": 64, \"pad\": 1.0, \"mode\": \"a\", \"flag\": true, \"time\": "
    "9, "
    "\"__error__\": \"CompilationFailedConfig\"}}\n}";

/* A run in the formats of others keeps its figures on the way there and back. */
static void exports_to_others_read_back(void **state) {
  (void)state;
  static const char *const formats[] = {"kernel-tuner", "t4"};
  fx_result r = {0};
  fx_write("cache.json", cache);
  fx_run(&r, "import", "cache.json", "--store", "cache.db");
  fx_expect(&r, 0, NULL, NULL);
  for (int k = 0; k < SCT_COUNT(formats); k++) {
    const char *const store = k == 0 ? "copy0.db" : "copy1.db";
    fx_run(&r, "export", "--store", "cache.db", "--format", formats[k], "-o", "copy.json");
    fx_expect(&r, 0, NULL, NULL);
    sct_str text = {0};
    sct_error err = {0};
    assert_int_equal(sct_file_read(&text, fx_path("copy.json"), &err), SCT_OK);
    assert_non_null(strstr(sct_str_c(&text), "\"pad\": 0.5,"));
    assert_non_null(strstr(sct_str_c(&text), "\"pad\": 1.0,"));
    assert_non_null(strstr(sct_str_c(&text), "\"flag\": false"));
    if (k == 0) { /* Kernel Tuner goes on from there */
      assert_true(sct_has_suffix(sct_str_c(&text), "}\n}"));
      assert_non_null(strstr(sct_str_c(&text), "\"kernel-tuner,16,0.5,a,True\": {"));
      assert_non_null(strstr(sct_str_c(&text), "\"problem_size\": [\n  4096,\n  1024\n ]"));
    }
    sct_str_free(&text);
    fx_run(&r, "import", "copy.json", "--store", store);
    fx_expect(&r, 0, NULL, NULL);
    fx_run(&r, "export", "--store", store);
    fx_expect(&r, 0, "\"median_ns\":1250000.0", NULL);
    fx_expect(&r, 0, "\"samples_ns\":", NULL);
    fx_expect(&r, 0, "\"outcome\":\"compile_error\"", NULL);
    fx_expect(&r, 0, "\"outcome\":\"launch_error\"", NULL);
    fx_expect(&r, 0, k == 0 ? "A\xc3\xa9 \\\"x\\\"" : "unknown device", NULL);
  }
  fx_free(&r);
}

/* What others measured is never made into a header. */
static void imported_caches_have_no_header(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "export", "--store", "a.db", "--format", "kernel-tuner", "-o", "kt.json");
  fx_expect(&r, 0, NULL, NULL);
  fx_run(&r, "import", "kt.json", "--store", "foreign.db");
  fx_expect(&r, 0, NULL, "imported");
  fx_run(&r, "emit", "kernel-tuner:move", "--store", "foreign.db");
  assert_int_not_equal(r.exit_code, 0);
  fx_free(&r);
  fx_run(&r, "emit", "move", "--store", "foreign.db");
  fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "nothing called 'move'");
  fx_run(&r, "import", "a.db", "--store", "foreign.db");
  fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "`sectile merge` joins stores");
  fx_run(&r, "import", "nothing.json", "--store", "foreign.db");
  fx_expect(&r, sct_exit_code(SCT_EIO), NULL, "there is no file 'nothing.json'");
  fx_free(&r);
}

/* A slip of a hand that would cost all results, or a spec. */
static void nothing_that_is_read_is_written_over(void **state) {
  (void)state;
  fx_result r = {0};
  sct_str held = {0}, found = {0};
  fx_write("mine.lua", "return 1\n");
  fx_write("mine.json", "[]\n");
  assert_int_equal(symlink("a.db", fx_path("link.db")), 0);
  assert_int_equal(sct_file_read(&held, fx_path("a.db"), NULL), SCT_OK);
  const char *const runs[][9] = {
      {"export", "--store", "a.db", "-o", "./a.db"},
      {"export", "--store", "a.db", "-o", "link.db"},
      {"export", "--store", "link.db", "-o", "a.db", "--format", "t4"},
      {"emit", "move", "--store", "a.db", "-o", "a.db"},
      {"emit", "mine.lua", "--store", "a.db", "-o", "mine.lua"},
      {"count", "mine.lua", "--cases", "mine.json", "-o", "mine.json"},
      {"count", "mine.lua", "--cases", "mine.json", "-o", "mine.lua"},
      {"tune", "mine.lua", "--store", "a.db", "--device", "virtual:h200", "--events", "a.db"},
      {"tune", "no.lua", "mine.lua", "--device", "virtual:h200", "--events", "mine.lua"}};
  for (int k = 0; k < SCT_COUNT(runs); k++) {
    const char *words[10] = {0};
    memcpy(words, runs[k], sizeof runs[k]);
    fx_run_list(&r, words);
    fx_expect(&r, sct_exit_code(SCT_EUSAGE), NULL, "would be lost");
  }
  assert_int_equal(sct_file_read(&found, fx_path("a.db"), NULL), SCT_OK);
  assert_int_equal(found.len, held.len);
  assert_memory_equal(found.data, held.data, held.len);
  assert_int_equal(sct_file_read(&found, fx_path("mine.lua"), NULL), SCT_OK);
  assert_string_equal(sct_str_c(&found), "return 1\n");
  fx_run(&r, "export", "--store", "a.db", "-o", "move"); /* a file called as the kernel is none */
  fx_expect(&r, 0, NULL, NULL);
  fx_run(&r, "emit", "move", "--store", "a.db", "-o", "move");
  assert_null(strstr(sct_str_c(&r.err), "would be lost"));
  sct_str_free(&held);
  sct_str_free(&found);
  fx_free(&r);
}

static void a_name_takes_no_parameters(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "emit", "move", "--store", "a.db", "-p", "fields=3");
  fx_expect(&r, 2, NULL, "-p is for a spec file; 'move' is the name of a kernel in the store");
  fx_free(&r);
}

/* Where nothing is timed predictions are compared; a page shows them. */
static void compare_of_virtual_devices(void **state) {
  (void)state;
  static const row old[] = {{"direct a", "ok", -30e3},
                            {"map b", "ok", -20e3},
                            {"map c", "ok", -10e3},
                            {"map d", "wrong_result", 0},
                            {"map e", "ok", 15e3}};
  static const row now[] = {{"direct a", "ok", -30.1e3},
                            {"map b", "ok", -12e3},
                            {"map c", "ok", -14e3},
                            {"map d", "ok", -9e3},
                            {"map e", "ok", -15e3}};
  fx_result r = {0};
  sct_str page = {0};
  sct_error err = {0};
  make_store("v1.db", "d", "2026-01-01T00:00:00Z", old, SCT_COUNT(old));
  make_store("v2.db", "d", "2026-01-02T00:00:00Z", now, SCT_COUNT(now));
  fx_run(&r, "compare", "v1.db", "v2.db", "-o", "v.html");
  fx_expect(&r, 0, "A predicted  B predicted  B / A", NULL);
  fx_expect(&r, 0, "FAST  map b", NULL);
  fx_expect(&r, 0, "SLOW  map c", NULL);
  fx_expect(&r, 0, "SAME  direct a", NULL);
  fx_expect(&r, 0, "-     map e", NULL); /* timed on one side only */
  fx_expect(&r, 0, "wrong_result", NULL);
  fx_expect(&r, 0, "1 FAST 1 SLOW 1 SAME 0 AMBIGUOUS", NULL);
  assert_null(strstr(sct_str_c(&r.out), "95 %"));
  assert_int_equal(sct_file_read(&page, fx_path("v.html"), &err), SCT_OK);
  const char *html = sct_str_c(&page);
  assert_non_null(strstr(html, "<title>v1.db and v2.db</title>"));
  assert_non_null(strstr(html, "B, predicted by A, predicted"));
  assert_non_null(strstr(html, "<circle class=\"s3\""));
  assert_non_null(strstr(html, "map c: B / A 1.400"));
  fx_run(&r, "compare", "v1.db", "v2.db", "--json");
  fx_expect(&r, 0, "\"predicted\": true", NULL);
  fx_expect(&r, 0, "\"low\": null", NULL);
  fx_run(&r, "compare", "v1.db", "v2.db", "-o", "v2.db");
  fx_expect(&r, 2, NULL, "v2.db");
  sct_str_free(&page);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compare_gives_verdicts_and_names_the_winner),
      cmocka_unit_test(compare_as_json),
      cmocka_unit_test(compare_of_virtual_devices),
      cmocka_unit_test(compare_of_dates),
      cmocka_unit_test(merge_and_export_do_not_know_order),
      cmocka_unit_test(merge_checks_its_sources_first),
      cmocka_unit_test(export_to_others_needs_one_run),
      cmocka_unit_test(exports_to_others_read_back),
      cmocka_unit_test(imported_caches_have_no_header),
      cmocka_unit_test(nothing_that_is_read_is_written_over),
      cmocka_unit_test(a_name_takes_no_parameters),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
