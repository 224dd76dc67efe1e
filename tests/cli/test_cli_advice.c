/* What commands say beside figures: issues of `check`, why a winner won, what a label says. */
#include "cli_fixture.h"

#include <sys/stat.h>

/* Two of eight fields are read. */
#define PARTICLES(layout)                                                                          \
  "local s = require \"sectile\"\n"                                                                \
  "local p = s.record { { \"x\", \"f32\" }, { \"y\", \"f32\" }, { \"z\", \"f32\" },\n"             \
  "  { \"m\", \"f32\" }, { \"u\", \"f32\" }, { \"v\", \"f32\" }, { \"w\", \"f32\" },\n"            \
  "  { \"n\", \"i32\" }, name = \"particle\" }\n"                                                  \
  "return s.kernel {\n"                                                                            \
  "  name = \"mass\", dims = { \"i\" },\n"                                                         \
  "  inputs = { s.array(\"p\", p, " layout ") }, outputs = { s.array(\"e\", \"f32\") },\n"         \
  "  body = \"e = p.m;\", sizes = { { i = 1048576 } },\n"                                          \
  "}\n"

static json_t *issues_of(const char *spec) {
  fx_result r = {0};
  fx_run(&r, "check", spec, "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  json_t *issues = json_object_get(json_array_get(json_object_get(doc, "checked"), 0), "issues");
  assert_true(json_is_array(issues));
  json_incref(issues);
  json_decref(doc);
  fx_free(&r);
  return issues;
}

#define LONG_ROWS(name, steps)                                                                     \
  fx_write(name ".lua", "local s = require \"sectile\"\n"                                          \
                        "return s.kernel { name = '" name "', dims = { 'row', 'col' },\n"          \
                        "  inputs = { s.array('x', 'f32') }, outputs = { s.array('y', 'f32') },\n" \
                        "  steps = { " steps " }, sizes = { { row = 64, col = 1 << 20 } } }\n")

/* Rows that no block holds, and many keys in one order. */
static void write_specs_of_passes(void) {
  LONG_ROWS("exponentials", "{ reduce = { m = 'max' }, body = 'm = x;' },"
                            "{ reduce = { t = 'sum' }, body = 't = expf(x - m);' },"
                            "{ body = 'y = expf(x - m) / t;' }");
  LONG_ROWS("squares", "{ reduce = { t = 'mean' }, body = 't = x;' },"
                       "{ reduce = { q = 'sum' }, body = 'float d = x - t; q = d * d;' },"
                       "{ body = 'y = x / sqrtf(q);' }");
  LONG_ROWS("at_once", "{ reduce = { m = 'max', t = 'softmax_sum' }, body = 'm = x; t = x;' },"
                       "{ body = 'y = expf(x - m) / t;' }");
  fx_write(
      "by_key.lua",
      "local s = require \"sectile\"\n"
      "return s.kernel { name = 'by_key', dims = { 't', 'c' }, inputs = { s.array('id', 'i64',\n"
      "  nil, { dims = 't', fill = 'random' }), s.array('g', 'bf16') },\n"
      "  outputs = { s.array('w', 'f32', nil, { dims = { 'v', 'c' }, at = { 'id', 'c' },\n"
      "    accumulate = 'add', deterministic = true, inout = true }) }, body = 'w = g;',\n"
      "  sizes = { { t = 2048, c = 768, v = 50257 } } }\n");
}

static void check_names_what_no_candidate_mends(void **state) {
  (void)state;
  static const struct {
    const char *spec, *id;
    double gain;
  } wanted[] = {
      {"aos.lua", "unused bytes", 0.875},
      {"soa.lua", NULL, 0.0},
      {"choose.lua", NULL, 0.0},
      {FX_SPECS "stride2.lua", "unused bytes", 0.5},
      {FX_SPECS "indirect_f32.lua", "indexed", 0.875},
      {"by_row.lua", "indexed", 0.875}, /* rows lie further apart than what an index finds in one */
      {FX_SPECS "add_const_double3.lua", NULL, 0.0},
      {"halve.lua", NULL, 0.0}, /* taps read what lies between */
      {FX_SPECS "transpose_f32.lua", NULL, 0.0},
      {FX_SPECS "gather_rows256.lua", NULL, 0.0},
      {FX_SPECS "dequant_int4.lua", NULL, 0.0}, /* a scale is of many neighbours */
      {FX_SPECS "paged_gather.lua", NULL, 0.0},
      {FX_SPECS "scatter_add.lua", NULL, 0.0},
      {FX_SPECS "sum_all_f32.lua", NULL, 0.0},
      {FX_SPECS "softmax.lua", NULL, 0.0},        /* rows are held */
      {FX_SPECS "ragged_softmax.lua", NULL, 0.0}, /* rows of mean length, too */
      {FX_SPECS "binned_sums.lua", NULL, 0.0},    /* blocks have copies of few bins */
      {"exponentials.lua", "one pass more", 0.25},
      {"squares.lua", "one pass more", 0.25},
      {"at_once.lua", NULL, 0.0},
      {"by_key.lua", "one order", 0.9},
  };
  fx_result r = {0};
  fx_write("halve.lua",
           "local s = require \"sectile\"\n"
           "return s.kernel { name = 'halve', dims = { 'y', 'x' }, inputs = { s.array('a', 'f32', "
           "nil, {\n"
           "  at = { 'y', '2 * x' }, extents = { 'y', '2 * x' }, taps = { next = { 0, 1 } } }) },\n"
           "  outputs = { s.array('b', 'f32') }, body = 'b = a + next;',\n"
           "  sizes = { { y = 512, x = 512 } } }\n");
  write_specs_of_passes();
  fx_write("by_row.lua",
           "local s = require \"sectile\"\n"
           "return s.kernel { name = 'by_row', dims = { 'row', 'j' }, inputs = {\n"
           "  s.array('pick', 'i32', nil, { dims = { 'row', 'j' } }),\n"
           "  s.array('a', 'f32', nil, { dims = { 'row', 'n' }, at = { 'row', 'pick' } }) },\n"
           "  outputs = { s.array('b', 'f32') }, body = 'b = a;',\n"
           "  sizes = { { row = 512, j = 512, n = 4096, pick = 'random' } } }\n");
  fx_write("aos.lua", PARTICLES("s.aos"));
  fx_write("soa.lua", PARTICLES("s.soa"));
  fx_write("choose.lua", PARTICLES("s.choose { s.aos, s.soa }"));
  for (int k = 0; k < SCT_COUNT(wanted); k++) {
    json_t *issues = issues_of(wanted[k].spec);
    const json_t *first = json_array_get(issues, 0);
    if ((int)json_array_size(issues) != (wanted[k].id != NULL)) {
      fail_msg("%s: %d issues", wanted[k].spec, (int)json_array_size(issues));
    }
    if (first) {
      assert_string_equal(json_string_value(json_object_get(first, "id")), wanted[k].id);
      assert_true(json_number_value(json_object_get(first, "gain")) == wanted[k].gain);
    }
    json_decref(issues);
  }
  fx_run(&r, "check", "aos.lua");
  fx_expect(&r, 0,
            "  issue 1     unused bytes: p: elements are 32 bytes apart, of which 4 are used:\n"
            "              33.6 MB are moved where 4.19 would do\n"
            "              try: group fields",
            NULL);
  fx_expect(&r, 0, "              gain: up to 87.5 % of the sectors\n", NULL);
  fx_free(&r);
}

static void tune_ends_with_why(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("aos.lua", PARTICLES("s.aos"));
  fx_run(&r, "tune", "aos.lua", "--store", "a.db", "-d", "virtual:h200", "--max-candidates", "5",
         "-q");
  fx_expect(&r, 0, "\n  why         ", NULL);
  fx_expect(&r, 0, "\n              Limited by DRAM bytes, says the model; it is predicted to move",
            NULL);
  fx_expect(&r, 0, "This is the naive variant: no other candidate is faster.\n", NULL);
  fx_expect(&r, 0, "  issue 1     unused bytes: p: elements are 32 bytes apart", NULL);
  fx_expect(&r, 0, " tie for the best, picked by ", NULL);
  fx_run(&r, "tune", FX_SPECS "add_const_double3.lua", "--store", "a.db", "-d", "virtual:h200",
         "--max-candidates", "5", "-q");
  fx_expect(&r, 0, "The naive variant touches 24.0 sectors per load request and 24.0\n", NULL);
  fx_expect(&r, 0, "3.00 times the winner's", NULL);
  assert_null(strstr(sct_str_c(&r.out), "issue 1"));
  fx_run(&r, "tune", FX_SPECS "stride8.lua", "--store", "a.db", "-d", "virtual:h200",
         "--max-candidates", "20", "-q");
  fx_expect(&r, 0, "The naive variant touches no more sectors than the winner", NULL);
  fx_run(&r, "tune", FX_SPECS "stride8.lua", "--store", "a.db", "-d", "virtual:h200",
         "--max-candidates", "20", "-q", "--json");
  fx_expect(&r, 0, "\"id\": \"unused bytes\"", NULL);
  fx_expect(&r, 0, "\"decided\": \"", NULL);
  fx_free(&r);
}

/* Rows of bytes that begin anywhere take twice the sectors of the array; each byte is read once. */
static void passes_are_of_bytes_too(void **state) {
  (void)state;
  static const char *const inputs[] = {
      "s.array('a', 'u8', nil, { at = { 'row', 'col + 1' }, extents = { 'row', 'col + 1' } })",
      "s.array('a', 'u8', nil, { taps = { up = { -1, 0 }, down = { 1, 0 } }, border = 'clamp' })"};
  static const char *const bodies[] = {"b = a;", "b = max(a, max(up, down));"};
  fx_result r = {0};
  for (int k = 0; k < 2; k++) {
    char text[512];
    snprintf(
        text, sizeof text,
        "local s = require 'sectile'\n"
        "return s.kernel { name = 'rows', dims = { 'row', 'col' }, inputs = { %s },\n"
        "  outputs = { s.array('b', 'u8') }, body = '%s', sizes = { { row = 301, col = 1001 } } "
        "}\n",
        inputs[k], bodies[k]);
    fx_write("rows.lua", text);
    fx_run(&r, "tune", "rows.lua", "--store", "b.db", "-d", "virtual:h200", "--only",
           "direct threads=256", "-q");
    fx_expect(&r, 0, "\n  why         ", NULL);
    assert_true((strstr(sct_str_c(&r.out), "It reads a ") != NULL) == (k == 1));
  }
  fx_free(&r);
}

/* A strategy from a directory of the user's: its words are those of its file. */
static void an_outsiders_label_is_explained_too(void **state) {
  (void)state;
  fx_result r = {0};
  sct_str text = {0};
  sct_error err = {0};
  assert_int_equal(sct_file_read(&text, SCT_ROOT_DIR "/tuning/strategies/windows.lua", &err),
                   SCT_OK);
  fx_replace(&text, "name = \"windows\"", "name = \"mine\"");
  fx_replace(&text, "cuda.new(k, \"windows\"", "cuda.new(k, \"mine\"");
  fx_replace(&text, "key = \"threads=\", doc = \"threads per block\"",
             "key = \"th=\", doc = \"what an outsider says of it\"");
  assert_int_equal(mkdir(fx_path("own"), 0700), 0);
  fx_write("own/mine.lua", sct_str_c(&text));
  fx_run(&r, "gen", FX_SPECS "indirect_f32.lua", "--strategies", "own", "--list");
  const char *label = strstr(sct_str_c(&r.out), "mine th=");
  assert_non_null(label);
  char wanted[256];
  snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(label, "\n"), label);
  fx_run(&r, "explain", FX_SPECS "indirect_f32.lua", "--strategies", "own", wanted);
  fx_expect(&r, 0, "what an outsider says of it (others: ", NULL);
  fx_expect(&r, 0, "\n  mine        ", NULL);
  sct_str_free(&text);
  fx_free(&r);
}

static void a_label_is_explained_by_its_strategy(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "explain", FX_SPECS "add_const_double3.lua", "map", "threads=256", "items=2", "vec=4",
         "evict=none");
  fx_expect(&r, 0, "map threads=256 items=2 vec=4 evict=none\n  map         A flat launch over",
            NULL);
  fx_expect(&r, 0, "  here        Each thread moves 2 vectors of 4 neighbouring elements.\n", NULL);
  fx_expect(&r, 0, "  items=2     vectors per thread, all loads in flight (others: 1 4 8)\n", NULL);
  fx_run(&r, "explain", FX_SPECS "add_const_double3.lua");
  fx_expect(&r, 0, "direct threads=256\n  direct      The naive kernel: one thread per ", NULL);
  fx_run(&r, "explain", FX_SPECS "add_const_double3.lua",
         "map threads=256 items=2 vec=4 evict=nine");
  fx_expect(&r, 2, NULL, "did you mean 'map threads=256 items=2 vec=4 evict=none'?");
  fx_run(&r, "explain", FX_SPECS "transpose_own.lua", "own_transpose PAD=0 ROWS=8 TILE=32",
         "--json");
  json_t *doc = fx_json(&r);
  json_t *axis = json_array_get(json_object_get(doc, "axes"), 2);
  assert_string_equal(json_string_value(json_object_get(axis, "value")), "32");
  json_decref(doc);
  fx_run(&r, "explain", "nowhere.lua", "map");
  fx_expect(&r, 1, NULL, "nowhere.lua");
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(check_names_what_no_candidate_mends),
      cmocka_unit_test(tune_ends_with_why),
      cmocka_unit_test(passes_are_of_bytes_too),
      cmocka_unit_test(a_label_is_explained_by_its_strategy),
      cmocka_unit_test(an_outsiders_label_is_explained_too),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
