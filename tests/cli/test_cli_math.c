/* The axis of fast arithmetic: which candidates there are, that verification decides, and what the
 * session says of it. */
#include "cli_fixture.h"

#define SPEC(body, tolerance)                                                                      \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel { name = \"m\", dims = { \"i\" }, inputs = { s.array(\"a\", \"f32\") },\n"      \
  "  outputs = { s.array(\"b\", \"f32\") }, body = \"" body "\", " tolerance                       \
  " sizes = { { i = 100000 } } }\n"
#define EXACT "map threads=256 items=1 vec=4 evict=none math=exact"
#define TAPS                                                                                       \
  "stencil halo=shared threads=256 lanes=32 vec=1 items=8 rows=1 wide=1 march=1 align=sector "
#define FAST "map threads=256 items=1 vec=4 evict=none math=fast"

static void write_specs(void) {
  fx_write("near.lua", SPEC("b = expf(-fabsf(a)) / (1.0f + a * a);", "tolerance = 1e-4,"));
  fx_write("far.lua", SPEC("b = sinf(3e4f * a);", "tolerance = 1e-4,"));
  fx_write("bits.lua", SPEC("b = expf(-fabsf(a)) / (1.0f + a * a);", ""));
  fx_write(
      "taps.lua",
      "local s = require \"sectile\"\n"
      "return s.kernel { name = \"t\", dims = { \"row\", \"col\" }, inputs = { s.array(\"a\", "
      "\"f32\", s.row_major,\n"
      "  { taps = { n = { -1, 0 } }, border = \"clamp\" }) }, outputs = { s.array(\"b\", \"f32\") "
      "},\n"
      "  body = \"b = a / (1.0f + n * n);\", tolerance = 1e-4, sizes = { { row = 99, col = 99 } "
      "} }\n");
  fx_write("none.lua", SPEC("b = 2.0f * a + tanhf(a);", "tolerance = 1e-4,"));
}

static void only_where_a_tolerance_allows_it(void **state) {
  (void)state;
  fx_result r = {0};
  write_specs();
  fx_run(&r, "space", "near.lua");
  fx_expect(&r, 0, "math     math=     exact fast", NULL);
  assert_null(strstr(sct_str_c(&r.out), "direct    math"));
  fx_run(&r, "space", "bits.lua");
  fx_expect(&r, 0, NULL, NULL);
  assert_null(strstr(sct_str_c(&r.out), "math="));
  fx_run(&r, "space", "none.lua");
  fx_expect(&r, 0, NULL, NULL);
  assert_null(strstr(sct_str_c(&r.out), "math="));
  fx_free(&r);
}

/* Next to policies of L2 there is none, so the space stays small. */
static void labels_and_text(void **state) {
  (void)state;
  fx_result r = {0};
  write_specs();
  fx_run(&r, "gen", "near.lua", "--pick", FAST);
  fx_expect(&r, 0, "b = __fdividef(__expf(-fabsf(a)), 1.0f + a * a);", NULL);
  fx_run(&r, "gen", "near.lua", "--pick", EXACT);
  fx_expect(&r, 0, "b = expf(-fabsf(a)) / (1.0f + a * a);", NULL);
  fx_run(&r, "gen", "near.lua", "--pick", "map threads=256 items=1 vec=4 evict=loads math=fast");
  fx_expect(&r, 2, NULL, "did you mean");
  fx_run(&r, "gen", "taps.lua", "--pick", TAPS "store=none math=fast");
  fx_expect(&r, 0, "b = __fdividef(a, 1.0f + n * n);", NULL);
  fx_run(&r, "gen", "taps.lua", "--pick", TAPS "store=streaming math=fast");
  fx_expect(&r, 2, NULL, "did you mean");
  fx_run(&r, "explain", "near.lua", FAST);
  fx_expect(&r, 0, "math=fast", NULL);
  fx_free(&r);
}

static const json_t *row_of(json_t *doc, const char *label) {
  const json_t *report =
      json_object_get(json_array_get(json_object_get(doc, "tuned"), 0), "report");
  const json_t *rows = json_object_get(json_array_get(json_object_get(report, "sizes"), 0), "rows"),
               *row = NULL;
  size_t k = 0;
  json_array_foreach(rows, k, row) {
    if (strcmp(json_string_value(json_object_get(row, "label")), label) == 0) {
      return row;
    }
  }
  fail_msg("no row '%s'", label);
  return NULL;
}

static const char *outcome_of(const char *spec, const char *label) {
  static char outcome[64];
  fx_result r = {0};
  write_specs();
  fx_run(&r, "tune", spec, "-d", "virtual:h200", "--store", "m.db", "--only", EXACT, "--only", FAST,
         "-q", "--json");
  json_t *doc = fx_json(&r);
  snprintf(outcome, sizeof outcome, "%s",
           json_string_value(json_object_get(row_of(doc, label), "outcome")));
  json_decref(doc);
  fx_free(&r);
  return outcome;
}

static void verification_decides(void **state) {
  (void)state;
  assert_string_equal(outcome_of("near.lua", EXACT), "ok");
  assert_string_equal(outcome_of("near.lua", FAST), "ok");
  assert_string_equal(outcome_of("far.lua", EXACT), "ok");
  assert_string_equal(outcome_of("far.lua", FAST), "wrong_result");
}

static void a_session_says_what_it_bought(void **state) {
  (void)state;
  static const struct {
    const char *spec, *text;
  } cases[] = {{"near.lua", "Fast arithmetic gains nothing: it is predicted to take "},
               {"heavy.lua", ", exact arithmetic at best "}};
  write_specs();
  fx_write("heavy.lua",
           SPEC("float x = fabsf(a); for (int k = 0; k < 40; k++) { x = 1.0f / (1.0f + "
                "expf(-x)); } b = x;",
                "tolerance = 1e-4,"));
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fx_result r = {0};
    fx_run(&r, "tune", cases[k].spec, "-d", "virtual:h200", "--store", "m.db", "--only", EXACT,
           "--only", FAST, "-q", "--json");
    fx_expect(&r, 0, cases[k].text, NULL);
    fx_free(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_where_a_tolerance_allows_it), cmocka_unit_test(labels_and_text),
      cmocka_unit_test(verification_decides), cmocka_unit_test(a_session_says_what_it_bought)};
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
