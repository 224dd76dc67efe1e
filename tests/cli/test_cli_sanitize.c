/* `sanitize`: what comments of sanitize.cu say is found where they say, and nothing else is. */
#include "cli_fixture.h"

#define SOURCE SCT_ROOT_DIR "/tests/cli/sanitize.cu"
#define CASES  SCT_ROOT_DIR "/tests/cli/sanitize.json"

#define MOST_LINES 200

/* The comment of each line of the source; "" where it has none. */
static char comments[MOST_LINES][128];

static void read_comments(void) {
  sct_str source = {0};
  sct_error err;
  assert_int_equal(sct_file_read(&source, SOURCE, &err), SCT_OK);
  int line = 1;
  for (const char *at = source.data; *at != '\0' && line < MOST_LINES; line++) {
    const int n = (int)strcspn(at, "\n");
    const char *const from = memmem(at, (size_t)n, "// ", 3);
    if (from && from != at) { /* the head has whole lines */
      snprintf(comments[line], sizeof comments[line], "%.*s", n - (int)(from - at), from);
    }
    at += n + 1;
  }
  sct_str_free(&source);
}

/* Whether the comment of a line has this word in front of this kind. */
static bool says(int line, const char *word, const char *kind) {
  char text[128];
  snprintf(text, sizeof text, "%s %s", word, kind);
  return strstr(comments[line], text) != NULL;
}

/* Of a race either place may come second. */
static void hold_finding(const json_t *f, bool *seen) {
  const char *const kind = json_string_value(json_object_get(f, "kind"));
  const int line = (int)json_integer_value(json_object_get(f, "line"));
  const json_t *const before = json_object_get(f, "before");
  const int other = (int)json_integer_value(json_object_get(before, "line"));
  const bool ahead =
      says(line, "find", kind) && (says(other, "before", kind) || other == 0 || other == line);
  const bool behind = says(line, "before", kind) && says(other, "find", kind);
  if (!ahead && !behind) {
    fail_msg("line %d: %s, after line %d", line, kind, other);
  }
  seen[line] = seen[other] = true;
}

static void comments_are_held(void **state) {
  (void)state;
  fx_result r = {0};
  bool seen[MOST_LINES] = {false};
  size_t i, k;
  json_t *c, *f;
  read_comments();
  fx_run(&r, "sanitize", SOURCE, "--cases", CASES, "--json");
  assert_int_equal(r.exit_code, 5);
  json_t *const doc = fx_json(&r);
  json_array_foreach(json_object_get(doc, "cases"), i, c) {
    assert_true(json_is_null(json_object_get(c, "problem")));
    json_array_foreach(json_object_get(c, "findings"), k, f) {
      hold_finding(f, seen);
    }
  }
  for (int line = 1; line < MOST_LINES; line++) {
    const bool wanted =
        sct_has_prefix(comments[line], "// find ") || sct_has_prefix(comments[line], "// before ");
    if (wanted != seen[line]) {
      fail_msg("line %d: %s", line, wanted ? "nothing was found" : "it has no comment");
    }
  }
  json_decref(doc);
  fx_free(&r);
}

#define ONE                                                                                        \
  "--kernel", "no_barrier", "--grid", "1", "--block", "256", "--arg", "f32[256]", "--arg",         \
      "f32[256]"

static void text_is_what_editors_read(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "sanitize", SOURCE, ONE);
  fx_expect(&r, 5, "sanitize.cu:6: error: ", NULL);
  fx_expect(&r, 5, "    s[threadIdx.x] = a[threadIdx.x]; // before shared_race\n", NULL);
  fx_expect(&r, 5, "in no_barrier, block (0,0,0), thread (", NULL);
  fx_expect(&r, 5, "1 case: 2 errors, 0 warnings", NULL);
  fx_free(&r);
  fx_run(&r, "sanitize", SOURCE, "--kernel", "by_atomics", "--grid", "4", "--block", "32", "--arg",
         "f32[32]");
  fx_expect(&r, 0, "1 case: nothing found", NULL);
  fx_free(&r);
}

/* What malloc() gave is still there after the last launch. */
static void leaks_are_said(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("heap.cu", "__global__ void take(int **p) { p[threadIdx.x] = (int *)malloc(40); }\n"
                      "__global__ void free_half(int **p) { free(p[2 * threadIdx.x]); }\n");
  fx_write(
      "heap.json",
      "{\"buffers\": {\"p\": {\"bytes\": 512}}, \"cases\": [\n"
      "{\"kernel\": \"take\", \"grid\": 1, \"block\": 32, \"args\": [\"p\"], \"heap\": 65536},\n"
      "{\"kernel\": \"free_half\", \"grid\": 1, \"block\": 16, \"args\": [\"p\"]}]}\n");
  fx_run(&r, "sanitize", "heap.cu", "--cases", "heap.json");
  fx_expect(&r, 0, "heap.cu: warning: 16 allocations, 640 bytes, were never freed [leak]\n", NULL);
  fx_expect(&r, 0, "2 cases: 0 errors, 1 warning", NULL);
  fx_free(&r);
}

static void other_programs_read_it(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "sanitize", SOURCE, ONE, "--format", "sarif");
  assert_int_equal(r.exit_code, 5);
  json_t *const doc = fx_json(&r);
  const json_t *const run = json_array_get(json_object_get(doc, "runs"), 0);
  const json_t *const result = json_array_get(json_object_get(run, "results"), 0);
  assert_string_equal(json_string_value(json_object_get(result, "ruleId")), "shared_race");
  assert_string_equal(json_string_value(json_object_get(result, "level")), "error");
  const json_t *const place =
      json_object_get(json_array_get(json_object_get(result, "locations"), 0), "physicalLocation");
  const json_t *const region = json_object_get(place, "region");
  assert_int_equal(json_integer_value(json_object_get(region, "startLine")), 6);
  assert_int_equal(json_array_size(json_object_get(result, "relatedLocations")), 1);
  json_decref(doc);
  fx_free(&r);
  fx_run(&r, "sanitize", SOURCE, ONE, "--format", "markdown");
  fx_expect(&r, 5, "### sanitize.cu: 2 errors, 0 warnings\n\n| case | place |", NULL);
  fx_free(&r);
  fx_run(&r, "sanitize", SOURCE, ONE, "--format", "sariv");
  fx_expect(&r, 2, NULL, "did you mean 'sarif'?");
  fx_free(&r);
}

#define RIGHT                                                                                      \
  "--kernel", "copy", "--grid", "1", "--block", "256", "--arg", "f32[256]", "--arg", "f32[256]"

static void limits_are_held(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "sanitize", "k.cu", RIGHT, "--write-limits", "gate.json");
  fx_expect(&r, 0, "nothing found", NULL);
  fx_free(&r);
  fx_run(&r, "sanitize", "k.cu", RIGHT, "--limits", "gate.json");
  fx_expect(&r, 0, "nothing found", NULL);
  fx_free(&r);
  fx_write("line.json", "{\"limits\": [{\"case\": \"copy\", \"sectors\": 63, \"excess\": 0},\n"
                        "{\"case\": \"copy\", \"line\": 2, \"sectors\": 31}]}");
  fx_run(&r, "sanitize", "k.cu", RIGHT, "--limits", "line.json");
  fx_expect(&r, 5, "k.cu: error: sectors: 64, limit 63 [limit]\n", NULL);
  fx_expect(&r, 5, "k.cu:2: error: sectors: 64, limit 31 [limit]\n    b[threadIdx.x] =", NULL);
  fx_expect(&r, 5, "1 case: 2 errors", NULL);
  fx_free(&r);
}

static void other_limits_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } files[] = {
      {"{\"compiler\": \"nvrtc 1.0\", \"limits\": []}", "compiler: these limits are for nvrtc 1.0"},
      {"{\"arch\": \"sm_80\", \"limits\": []}", "arch: these limits are for sm_80"},
      {"{\"limits\": [{\"case\": \"copi\"}]}", "limits[0]: there is no case 'copi'; did you mean"},
      {"{\"limits\": [{\"case\": \"copy\", \"sector\": 1}]}",
       "unknown 'sector'; did you mean 'sectors'?"},
      {"{\"limits\": [{\"case\": \"copy\", \"line\": 1, \"sectors\": 1}]}", "line 1 of case"},
      {"{\"limits\": [{\"case\": \"copy\", \"line\": 2, \"registers\": 1}]}",
       "a line has no such figure"},
      {"{\"limits\": [{\"case\": \"copy\", \"sectors\": -1}]}", "limits[0].sectors"},
  };
  for (int k = 0; k < SCT_COUNT(files); k++) {
    fx_result r = {0};
    fx_write("wrong.json", files[k].text);
    fx_run(&r, "sanitize", "k.cu", RIGHT, "--limits", "wrong.json");
    fx_expect(&r, 3, NULL, files[k].says);
    fx_free(&r);
  }
}

static int setup(void **state) {
  const int result = fx_setup(state);
  fx_write("k.cu", "__global__ void copy(const float *a, float *b) {\n"
                   "  b[threadIdx.x] = a[threadIdx.x];\n"
                   "}\n");
  return result;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comments_are_held), cmocka_unit_test(text_is_what_editors_read),
      cmocka_unit_test(leaks_are_said),    cmocka_unit_test(other_programs_read_it),
      cmocka_unit_test(limits_are_held),   cmocka_unit_test(other_limits_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, fx_teardown);
}
