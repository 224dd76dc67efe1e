/* `tune --device replay:FILE`: whole sessions on what a store has recorded, here of a fake GPU. */
#include "cli_gpu_fixture.h"

#define RECORD                                                                                     \
  "tune", "copy.lua", "--no-virtual-check", "--assets", "assets", "--again", "-q", "--device"
#define REPLAY "tune", "copy.lua", "--assets", "assets", "--json", "--device"

/* Candidates of the naive strategy in the order of the space; the last is the fastest. */
static int set_up(void **state) {
  if (fx_gpu_setup(state) != 0) {
    return 1;
  }
  fx_result r = {0};
  fx_fake("ok"); /* compiled before, they are measured in the order of the space */
  fx_run(&r, RECORD, "cuda:0", "--store", "before.db");
  fx_fake("devices=2 slow@0=2 slow@1=1.9 slow@2=1.8 wrong@3 slow@4=1.6 slow@5=1.5 slow@6=1.2");
  fx_run(&r, RECORD, "cuda:0", "--store", "one.db");
  fx_expect(&r, 0, "1 failed", NULL);
  fx_run(&r, RECORD, "cuda:0,cuda:1", "--store", "two.db");
  fx_expect(&r, 0, NULL, NULL);
  fx_free(&r);
  fx_fake("none"); /* from here on there is no GPU, and no compiler either */
  return setenv("SECTILE_NVRTC", "/nowhere/libnvrtc.so", 1);
}

static const json_t *report_of(const json_t *doc) {
  return json_object_get(json_array_get(json_object_get(doc, "tuned"), 0), "report");
}

static const json_t *size_of(const json_t *doc) {
  return json_array_get(json_object_get(report_of(doc), "sizes"), 0);
}

static int number(const json_t *doc, const char *key) {
  return (int)json_integer_value(json_object_get(size_of(doc), key));
}

static const json_t *row(const json_t *doc, size_t k) {
  return json_array_get(json_object_get(size_of(doc), "rows"), k);
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* What the recorded run says; the document must be freed. */
static json_t *recorded_outcomes(void) {
  fx_result r = {0};
  fx_run(&r, "export", "--store", "one.db");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  fx_free(&r);
  return doc;
}

static void a_session_without_a_gpu(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, REPLAY, "replay:one.db");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *device = json_object_get(report_of(doc), "device");
  assert_string_equal(text_of(device, "id"), "replay:cuda:0");
  assert_string_equal(text_of(device, "name"), "replay of Fake GPU");
  assert_string_equal(text_of(device, "uuid"), "");
  assert_true(json_is_true(json_object_get(report_of(doc), "replayed")));
  assert_true(json_is_null(json_object_get(report_of(doc), "conditions")));
  assert_non_null(strstr(text_of(report_of(doc), "says"), "nothing is measured"));
  assert_int_equal(number(doc, "tried"), 8);
  assert_int_equal(number(doc, "failed"), 1);
  assert_int_equal(number(doc, "verified"), 7);
  assert_string_equal(text_of(row(doc, 0), "label"), "direct threads=768"); /* the last, not slow */
  assert_true(json_is_true(json_object_get(row(doc, 0), "winner")));
  assert_true(json_integer_value(json_object_get(row(doc, 0), "registers")) > 0);
  assert_string_equal(text_of(row(doc, 7), "outcome"), "wrong_result");
  assert_non_null(strstr(text_of(row(doc, 7), "detail"), "instead of"));
  assert_non_null(strstr(text_of(size_of(doc), "recorded"), "is 1.000 times as long"));
  json_decref(doc);
  fx_run(&r, "tune", "copy.lua", "--assets", "assets", "--device", "replay:one.db", "-q");
  fx_expect(&r, 0, "copy on replay:cuda:0 (replay of Fake GPU, CC 9.0): a replay: drawn", NULL);
  fx_expect(&r, 0, "  replayed  ", NULL);
  fx_expect(&r, 0, "7 recorded as verified, 1 failed", NULL);
  fx_free(&r);
}

static void times_follow_the_seed(void **state) {
  (void)state;
  fx_result r = {0};
  json_t *docs[3];
  for (int k = 0; k < 3; k++) {
    fx_run(&r, REPLAY, "replay:one.db", "--seed", k < 2 ? "1" : "2");
    fx_expect(&r, 0, NULL, NULL);
    docs[k] = fx_json(&r);
  }
  assert_true(json_equal(docs[0], docs[1]));
  assert_false(json_equal(size_of(docs[0]), size_of(docs[2])));
  json_t *recorded = recorded_outcomes();
  assert_true(json_array_size(json_object_get(recorded, "problems")) == 1);
  json_decref(recorded);
  for (int k = 0; k < 3; k++) {
    json_decref(docs[k]);
  }
  fx_free(&r);
}

static void every_search_replays(void **state) {
  (void)state;
  static const char *const methods[] = {"model", "random", "local", "exhaustive"};
  fx_result r = {0};
  for (int k = 0; k < SCT_COUNT(methods); k++) {
    fx_run(&r, REPLAY, "replay:one.db", "--search", methods[k], "--max-candidates", "3");
    fx_expect(&r, 0, NULL, NULL);
    json_t *doc = fx_json(&r);
    assert_int_equal(number(doc, "tried"), 3);
    assert_int_equal(number(doc, "untried"), 5);
    assert_string_equal(text_of(report_of(doc), "search"), methods[k]);
    json_decref(doc);
  }
  fx_free(&r);
}

static void nothing_of_it_is_stored(void **state) {
  (void)state;
  fx_result r = {0};
  sct_str before = {0}, after = {0};
  assert_int_equal(sct_file_read(&before, fx_path("one.db"), NULL), SCT_OK);
  fx_run(&r, REPLAY, "replay:one.db", "--store", "kept.db");
  fx_expect(&r, 0, NULL, NULL);
  assert_int_equal(access(fx_path("kept.db"), F_OK), -1);
  fx_run(&r, "emit", "copy.lua", "--store", "kept.db");
  fx_expect(&r, 8, NULL, "kept.db");
  fx_run(&r, REPLAY, "replay:one.db", "--store", "one.db"); /* not in the recording either */
  fx_expect(&r, 0, NULL, NULL);
  assert_int_equal(sct_file_read(&after, fx_path("one.db"), NULL), SCT_OK);
  assert_int_equal(after.len, before.len);
  assert_memory_equal(after.data, before.data, before.len);
  sct_str_free(&before);
  sct_str_free(&after);
  fx_free(&r);
}

static void what_is_not_recorded_says_so(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "tune", "copy.lua", "--json", "--device", "replay:one.db"); /* with all strategies */
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  assert_int_equal(number(doc, "verified"), 3);
  assert_true(number(doc, "failed") > 8);
  int n_missing = 0;
  for (size_t k = 0; row(doc, k); k++) {
    if (strcmp(text_of(row(doc, k), "outcome"), "not_recorded") == 0) {
      assert_string_equal(text_of(row(doc, k), "detail"),
                          "the recording has no candidate with this source");
      n_missing++;
    }
  }
  assert_int_equal(n_missing, number(doc, "failed") - 1); /* and the wrong one */
  json_decref(doc);
  fx_write("copy2.lua", "local s = require \"sectile\"\n"
                        "return s.kernel { name = \"copy\", dims = { \"i\" },\n"
                        "  inputs = { s.array(\"a\", \"f32\") },\n"
                        "  outputs = { s.array(\"b\", \"f32\") },\n"
                        "  body = \"b = a + 1.0f;\", sizes = { { i = 5000 } } }\n");
  fx_run(&r, "tune", "copy2.lua", "--device", "replay:one.db");
  fx_expect(&r, 8, NULL, "has nothing of this version of the spec of 'copy'");
  fx_write("copy3.lua", "local s = require \"sectile\"\n"
                        "return s.kernel {\n"
                        "  name = \"copy\", dims = { \"i\" },\n"
                        "  inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", "
                        "\"f32\") },\n"
                        "  body = \"b = a;\", sizes = { { i = 6000 } },\n"
                        "}\n");
  fx_run(&r, "tune", "copy3.lua", "--assets", "assets", "--device", "replay:one.db");
  assert_true(r.exit_code == 8 || r.exit_code == 5); /* another size */
  assert_non_null(strstr(sct_str_c(&r.err), "recording"));
  fx_free(&r);
}

static void files_that_are_no_recording(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, REPLAY, "replay:two.db");
  fx_expect(&r, 2, NULL, "the recording has several devices; say which: Fake GPU (cuda:");
  fx_expect(&r, 2, NULL, "Fake GPU (cuda:0, driver fake): #"); /* in the order of the store */
  fx_expect(&r, 2, NULL, "Fake GPU (cuda:1, driver fake): #");
  fx_run(&r, REPLAY, "replay:two.db#GPU-00000000-0000-0000-0000-000000000001");
  fx_expect(&r, 0, "replay:cuda:1", NULL);
  fx_run(&r, REPLAY, "replay:two.db#cuda:0,replay:two.db#cuda:1"); /* both, side by side */
  fx_expect(&r, 0, "\"device_id\": \"replay:two.db#cuda:1\"", NULL);
  fx_run(&r, REPLAY, "replay:one.db#cuda:7");
  fx_expect(&r, 4, NULL, "the store has no device of that name that gave times");
  fx_run(&r, REPLAY, "replay:none.db");
  fx_expect(&r, 1, NULL, "there is no such file");
  fx_run(&r, REPLAY, "replay:" SCT_TESTS_DIR "/search/h200.json");
  fx_expect(&r, 8, NULL, "has neither sources nor samples");
  fx_run(&r, "doctor", "-d", "replay:one.db");
  fx_expect(&r, 2, NULL, "nothing runs on a recording");
  fx_run(&r, "gen", "copy.lua", "-d", "replay:one.db"); /* its limits may be asked for */
  fx_expect(&r, 0, "__global__", NULL);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_session_without_a_gpu),      cmocka_unit_test(times_follow_the_seed),
      cmocka_unit_test(every_search_replays),         cmocka_unit_test(nothing_of_it_is_stored),
      cmocka_unit_test(what_is_not_recorded_says_so), cmocka_unit_test(files_that_are_no_recording),
  };
  return cmocka_run_group_tests(tests, set_up, fx_teardown);
}
