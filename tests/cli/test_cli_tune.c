/* The way from a spec to a header with the virtual H200: tune, the store, emit, nvcc. */
#include "cli/cli_internal.h"
#include "cli_fixture.h"

#include <pty.h>
#include <signal.h>

/* Few candidates and small extents: these tests are about the way, not about the space. */
#define TWICE_OF(factor, n)                                                                        \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"twice\", dims = { \"i\" },\n"                                                        \
  "  inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\") },\n"               \
  "  body = \"b = " factor " * a;\", sizes = { { i = 5000 }, { i = " n " } },\n"                   \
  "}\n"
#define TWICE_SPEC(factor) TWICE_OF(factor, "20000")

/* Blocks of 48 records, fields in reverse order: nothing the program has built in. */
#define REVERSED_LAYOUT                                                                            \
  "return {\n"                                                                                     \
  "  name = \"reversed48\",\n"                                                                     \
  "  doc = \"Blocks of 48 records, the last field first.\",\n"                                     \
  "  params = {},\n"                                                                               \
  "  offset = function(l, field, idx, ext)\n"                                                      \
  "    local i = l.linear(idx, ext)\n"                                                             \
  "    local after = l.record.bytes - field.offset - field.bytes\n"                                \
  "    return i // 48 * (48 * l.record.bytes) + 48 * after + i % 48 * field.bytes\n"               \
  "  end,\n"                                                                                       \
  "  bytes = function(l, ext) return l.round_up(l.count(ext), 48) * l.record.bytes end,\n"         \
  "}\n"
#define REVERSED_SPEC                                                                              \
  "local s = require \"sectile\"\n"                                                                \
  "local pair = s.record { { \"x\", \"f32\" }, { \"y\", \"f64\" }, name = \"pair\" }\n"            \
  "return s.kernel {\n"                                                                            \
  "  name = \"reorder\", dims = { \"i\" },\n"                                                      \
  "  inputs = { s.array(\"a\", pair, s.soa) },\n"                                                  \
  "  outputs = { s.array(\"b\", pair, s.layout \"reversed48.lua\") },\n"                           \
  "  body = \"b = a;\", sizes = { { i = 4800 } },\n"                                               \
  "}\n"

static void tune_twice(fx_result *r) {
  fx_write("twice.lua", TWICE_SPEC("2.0f"));
  fx_run(r, "tune", "twice.lua", "--store", "twice.db", "-d", "virtual:h200", "--search",
         "exhaustive");
  fx_expect(r, 0, "twice on virtual:h200 (NVIDIA H200, CC 9.0): ", NULL);
}

/* Without options a session ends by itself; run again, it tries nothing more. */
static void a_search_settles(void **state) {
  (void)state;
  fx_result r = {0}, again = {0};
  fx_write("twice.lua", TWICE_SPEC("2.0f"));
  fx_run(&r, "tune", "twice.lua", "--store", "settled.db", "-d", "virtual:h200");
  fx_expect(&r, 0, " candidates: the last 64 gained at most 0.5 %, so the search stopped", NULL);
  fx_expect(&r, 0, "; --search exhaustive tries all\n", NULL);
  assert_null(strstr(sct_str_c(&r.out), "stopped early"));
  fx_run(&again, "tune", "twice.lua", "--store", "settled.db", "-d", "virtual:h200");
  assert_string_equal(sct_str_c(&again.out), sct_str_c(&r.out));
  assert_null(strstr(sct_str_c(&again.err), "compile "));
  fx_free(&r);
  fx_free(&again);
}

static void tune_prints_boards_and_tells_progress_apart(void **state) {
  (void)state;
  fx_result r = {0};
  tune_twice(&r);
  fx_expect(&r, 0, "not timed\n", NULL);
  fx_expect(&r, 0, "\ni=5000: reads ", NULL);
  fx_expect(&r, 0, "\ni=20000: reads ", NULL);
  fx_expect(&r, 0, "\n  *", NULL);
  fx_expect(&r, 0, "direct t", NULL);
  fx_expect(&r, 0, " verified, 0 failed", NULL);
  fx_expect(&r, 0, "  predicted  x naive  of copy  GB/s  ", NULL);
  assert_null(strstr(sct_str_c(&r.out), " time ")); /* the column */
  fx_expect(&r, 0, NULL, "twice.lua: compile ");
  assert_null(strstr(sct_str_c(&r.out), "twice.lua: ")); /* progress is no data */
  assert_null(strchr(sct_str_c(&r.err), '\r'));
  assert_null(strstr(sct_str_c(&r.err), "direct t")); /* nor data progress */

  fx_run(&r, "tune", "twice.lua", "--store", "twice.db", "-d", "virtual:h200", "-q", "--top", "1");
  fx_expect(&r, 0, "n", NULL);
  assert_int_equal(r.err.len, 0);
  int rows = 0;
  for (const char *at = sct_str_c(&r.out); (at = strstr(at, "\n  *")) != NULL; at++) {
    rows++;
  }
  assert_int_equal(rows, 2); /* a winner a size */
  fx_free(&r);
}

static void no_gpu_is_said_with_what_comes_instead(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "devices", "--json");
  json_t *doc = fx_json(&r);
  const bool no_gpu = json_is_string(json_object_get(doc, "no_gpu"));
  json_decref(doc);
  if (!no_gpu) {
    skip();
  }
  char *const cache = strdup(getenv("XDG_CACHE_HOME"));
  fx_write("twice.lua", TWICE_SPEC("2.0f"));
  setenv("XDG_CACHE_HOME", fx_path("new"), 1);
  fx_run(&r, "tune", "twice.lua", "--store", "twice.db", "--max-candidates", "1");
  fx_expect(&r, 0, "twice on virtual:h200", "no GPU here: ");
  fx_expect(&r, 0, NULL, "using virtual:h200: ");
  fx_run(&r, "tune", "twice.lua", "--store", "twice.db", "--max-candidates", "1");
  fx_expect(&r, 0, "twice on virtual:h200", NULL); /* it was said today */
  assert_null(strstr(sct_str_c(&r.err), "no GPU here: "));
  setenv("XDG_CACHE_HOME", cache, 1);
  free(cache);
  fx_run(&r, "tune", "twice.lua", "--store", "twice.db", "-d", "cuda:0");
  fx_expect(&r, 4, NULL, "sectile: ");
  fx_free(&r);
}

/* Of each compute capability one device: it is tuned for, or nothing compiles for it and the
 * nearest that will do is named. `devices` says the same of each. */
static void devices_are_tuned_for_where_the_toolkit_compiles(void **state) {
  (void)state;
  json_t *seen = json_object();
  fx_result list = {0}, r = {0};
  size_t k;
  const json_t *device;
  int n_counting = 0;
  fx_write("twice.lua", TWICE_SPEC("2.0f"));
  fx_run(&list, "devices", "--json");
  json_t *doc = fx_json(&list);
  json_array_foreach(json_object_get(doc, "devices"), k, device) {
    const char *id = json_string_value(json_object_get(device, "id"));
    const bool counting = json_is_true(json_object_get(device, "counting_only"));
    const char *cc = json_string_value(json_object_get(device, "cc"));
    if (!json_is_true(json_object_get(device, "virtual")) || json_object_get(seen, cc)) {
      continue;
    }
    json_object_set_new(seen, cc, json_true());
    fx_run(&r, "tune", "twice.lua", "--store", "twice.db", "-d", id, "--max-candidates", "1");
    if (!counting) {
      fx_expect(&r, 0, id, NULL);
      continue;
    }
    fx_expect(&r, 4, NULL, id);
    fx_expect(&r, 4, NULL, "is described only: this toolkit cannot compile for");
    fx_expect(&r, 4, NULL, cc);
    fx_expect(&r, 4, NULL, "; the nearest device to tune for is virtual:");
    assert_null(strstr(sct_str_c(&r.err), "virtual:gtx1070 ("));
    n_counting++;
  }
  assert_true(n_counting >= 4 && json_object_size(seen) >= 17);
  json_decref(seen);
  json_decref(doc);
  fx_free(&list);
  fx_free(&r);
}

static const json_t *winner_of(const json_t *size) {
  const json_t *row;
  size_t k;
  json_array_foreach(json_object_get(size, "rows"), k, row) {
    if (json_is_true(json_object_get(row, "winner"))) {
      return row;
    }
  }
  return NULL;
}

/* Every row says exact, or why not. */
static void expect_counts(const json_t *size) {
  const json_t *row;
  size_t k;
  int n_exact = 0;
  json_array_foreach(json_object_get(size, "rows"), k, row) {
    const char *counts = json_string_value(json_object_get(row, "counts"));
    const char *cause = json_string_value(json_object_get(row, "counts_cause"));
    if (json_is_null(json_object_get(row, "sectors_ld")) || counts == NULL) {
      assert_null(cause);
    } else if (strcmp(counts, "exact") == 0) {
      assert_null(cause);
      n_exact++;
    } else {
      assert_string_equal(counts, "approximate");
      assert_true(strstr(cause, "blocks were counted") != NULL ||
                  strstr(cause, "executed counts may differ") != NULL);
    }
  }
  assert_true(n_exact > 0);
}

static void tune_as_json_has_every_candidate(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("twice.lua", TWICE_SPEC("2.0f"));
  fx_write("bad.lua", "return nil + 1\n");
  fx_run(&r, "tune", "bad.lua", "twice.lua", "--store", "twice.db", "-d", "virtual:h200", "--json",
         "--again");
  fx_expect(&r, 3, NULL, "bad.lua:1: error: ");
  json_t *doc = fx_json(&r);
  assert_int_equal(json_integer_value(json_object_get(doc, "exit_code")), 3);
  const json_t *list = json_object_get(doc, "tuned"), *bad = json_array_get(list, 0),
               *good = json_array_get(list, 1);
  assert_int_equal(json_array_size(list), 2);
  assert_int_equal(json_integer_value(json_object_get(bad, "exit_code")), 3);
  assert_true(json_is_null(json_object_get(bad, "report")));
  assert_non_null(strstr(json_string_value(json_object_get(bad, "message")), "bad.lua:1: error"));
  const json_t *report = json_object_get(good, "report");
  assert_int_equal(json_integer_value(json_object_get(good, "exit_code")), 0);
  const json_t *sizes = json_object_get(report, "sizes"), *size;
  assert_int_equal(json_array_size(sizes), 2);
  size_t k;
  json_array_foreach(sizes, k, size) {
    const json_t *winner = winner_of(size);
    assert_non_null(winner);
    assert_true(json_is_true(json_object_get(winner, "coalesced")));
    assert_true(json_is_null(json_object_get(winner, "median_ns"))); /* counted, not timed */
    const json_t *small = json_object_get(winner, "small_size");
    assert_true(json_integer_value(json_object_get(json_object_get(small, "ptx"), "sectors_st")) >
                0);
    assert_true(json_number_value(json_object_get(winner, "predicted_ns")) > 100.0);
    assert_non_null(json_string_value(json_object_get(winner, "predicted_limit")));
    assert_non_null(json_string_value(json_object_get(winner, "counts")));
    expect_counts(size);
    assert_true(json_integer_value(json_object_get(winner, "registers")) > 0);
    assert_true(json_number_value(json_object_get(winner, "sectors")) > 0);
    assert_int_equal(json_array_size(json_object_get(size, "rows")) +
                         (size_t)json_integer_value(json_object_get(size, "unfit")) +
                         (size_t)json_integer_value(json_object_get(size, "untried")),
                     json_integer_value(json_object_get(report, "sources")));
  }
  json_decref(doc);
  fx_free(&r);
}

#define BODY_SPEC(type, body)                                                                      \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"odd\", dims = { \"i\" },\n"                                                          \
  "  inputs = { s.array(\"a\", \"" type "\") }, outputs = { s.array(\"b\", \"" type "\") },\n"     \
  "  body = \"" body "\", sizes = { { i = 3000 } },\n"                                             \
  "}\n"

/* The check of a body takes an index that is no constant for every element of an array. What has no
 * defined value then is stored by the naive variant, which the virtual device sees, or left out by
 * the compiler: what it did not write is no reference. Values that look like what outputs hold
 * before are right. */
static void a_body_without_a_value_is_no_reference(void **state) {
  static const char never[] = "some output elements were never written: b of element i=0 (n_i=1)";
  static const struct {
    const char *spec, *says;
  } nothing[] = {
      {BODY_SPEC("f32", "float t[4]; for (int q = 0; q < 1; q++) t[q] = a; b = t[3];"), never},
      {BODY_SPEC("f32", "float t[4]; t[i % 2] = a; b = t[2 + i % 2];"),
       "stores a value that was never set"},
      {BODY_SPEC("f32", "while (1) {} b = a;"), never},
  };
  (void)state;
  fx_result r = {0};
  for (int k = 0; k < SCT_COUNT(nothing); k++) {
    fx_write("odd.lua", nothing[k].spec);
    fx_run(&r, "tune", "odd.lua", "--store", "odd.db", "-d", "virtual:h200");
    fx_expect(&r, 5, nothing[k].says, NULL);
  }
  fx_write("odd.lua", BODY_SPEC("u8", "b = a / 8 < 16 ? 0xa5 : 0x5a;"));
  fx_run(&r, "tune", "odd.lua", "--store", "odd.db", "-d", "virtual:h200", "--only",
         "map threads=128 items=1 vec=4 evict=none");
  fx_expect(&r, 0, " verified, 0 failed", NULL);
  fx_free(&r);
}

/* ---- emit ---- */

static void use_header(const char *nvcc, const char *name, const char *call) {
  sct_str text = {0};
  sct_str_printf(&text,
                 "#include \"%s.h\"\n"
                 "#include <cstdio>\n"
                 "int main() {\n"
                 "  const cudaError_t error = %s;\n"
                 "  std::printf(\"%%s\\n\", cudaGetErrorString(error));\n"
                 "  return error != cudaSuccess;\n"
                 "}\n",
                 name, call);
  fx_write("use.cu", sct_str_c(&text));
  fx_compile(nvcc, "-Xcompiler -Wall,-Wextra -Werror all-warnings -c use.cu -o use.o");
  sct_str_free(&text);
}

static void what_was_tuned_is_emitted_and_compiles(void **state) {
  (void)state;
  fx_result r = {0};
  sct_str file = {0};
  sct_error err = {0};
  tune_twice(&r);
  fx_run(&r, "emit", "twice.lua", "--store", "twice.db", "-o", "twice.h");
  fx_expect(&r, 0, NULL, "wrote twice.h");
  assert_int_equal(r.out.len, 0);
  assert_int_equal(sct_file_read(&file, fx_path("twice.h"), &err), SCT_OK);
  assert_non_null(strstr(sct_str_c(&file), "  predicted us  "));
  assert_non_null(strstr(sct_str_c(&file), "// Predicted, not timed: "));
  fx_run(&r, "emit", "twice", "--store", "twice.db"); /* by name, to stdout */
  assert_int_equal(r.exit_code, 0);
  assert_string_equal(sct_str_c(&r.out), sct_str_c(&file));
  fx_run(&r, "emit", "twice", "--store", "twice.db", "--json");
  json_t *doc = fx_json(&r);
  assert_string_equal(json_string_value(json_object_get(doc, "header")), sct_str_c(&file));
  json_decref(doc);
  const char *nvcc = fx_nvcc();
  if (nvcc) {
    use_header(nvcc, "twice", "twice(nullptr, nullptr, 0, nullptr)");
  } else {
    print_message("no nvcc here: the header is not compiled\n");
  }
  sct_str_free(&file);
  fx_free(&r);
}

static void a_size_more_joins_the_header(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("twice.lua", TWICE_OF("2.0f", "20000 }, s.range { i = { 777, 777 }"));
  fx_run(&r, "tune", "twice.lua", "--store", "more.db", "-d", "virtual:h200", "--max-candidates",
         "2");
  fx_expect(&r, 0, "samples of the range", NULL);
  fx_run(&r, "emit", "twice.lua", "--store", "more.db");
  fx_expect(&r, 0, "// NVIDIA H200: of 3 sizes. ", NULL);
  assert_null(strstr(sct_str_c(&r.out), " i=777 ")); /* no row of the banner */
  fx_write("twice.lua", TWICE_SPEC("2.0f"));         /* the same spec by its hash */
  fx_run(&r, "tune", "twice.lua", "--store", "more.db", "-d", "virtual:h200", "--max-candidates",
         "2", "--add-size", "i=777");
  fx_expect(&r, 0, "i=777: reads ", NULL);
  fx_run(&r, "emit", "twice.lua", "--store", "more.db");
  fx_expect(&r, 0, " i=777 ", NULL);
  fx_expect(&r, 0, " i=20000 ", NULL);
  fx_free(&r);
}

static void a_listed_size_has_others_around_it(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("twice.lua", TWICE_OF("2.0f", "20000 }, { i = 777"));
  unsetenv("SECTILE_NO_RANGE");
  fx_run(&r, "tune", "twice.lua", "--store", "around.db", "-d", "virtual:h200", "--max-candidates",
         "2", "--shard", "1/2");
  fx_expect(&r, 0, " sizes around these were tuned too: ", NULL);
  fx_run(&r, "tune", "twice.lua", "--store", "around.db", "-d", "virtual:h200", "--max-candidates",
         "2");
  fx_expect(&r, 0, "\n14 sizes around these were tuned too: ", NULL);
  assert_null(strstr(sct_str_c(&r.out), " i=2500: reads "));
  setenv("SECTILE_NO_RANGE", "1", 1);
  fx_run(&r, "emit", "twice.lua", "--store", "around.db");
  fx_expect(&r, 0, "calls of other sizes take ", NULL);
  fx_run(&r, "tune", "twice.lua", "--store", "none.db", "-d", "virtual:h200", "--max-candidates",
         "2");
  fx_expect(&r, 0, "i=777: reads ", NULL);
  assert_null(strstr(sct_str_c(&r.out), "samples of the range"));
  fx_free(&r);
}

static void emit_refuses_what_was_not_tuned(void **state) {
  (void)state;
  fx_result r = {0};
  tune_twice(&r);
  fx_write("changed.lua", TWICE_SPEC("3.0f")); /* another spec of this name */
  fx_run(&r, "emit", "changed.lua", "--store", "twice.db", "-o", "changed.h");
  fx_expect(&r, 8, NULL, "changed since it was tuned");
  assert_false(sct_file_exists(fx_path("changed.h")));
  fx_run(&r, "emit", "twise", "--store", "twice.db");
  fx_expect(&r, 8, NULL, "nothing called 'twise' is in this store; did you mean 'twice'?");
  fx_free(&r);
}

/* ---- a layout of the user's own ---- */

static void a_layout_from_outside_is_tuned_and_emitted(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("reversed48.lua", REVERSED_LAYOUT);
  fx_write("reorder.lua", REVERSED_SPEC);
  fx_run(&r, "gen", "reorder.lua");
  fx_expect(&r, 0, "48", NULL);
  fx_run(&r, "tune", "reorder.lua", "--store", "own.db", "-d", "virtual:h200", "--json", "-q");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *report =
      json_object_get(json_array_get(json_object_get(doc, "tuned"), 0), "report");
  const json_t *size = json_array_get(json_object_get(report, "sizes"), 0);
  const json_t *winner = winner_of(size);
  assert_non_null(winner);
  assert_true(json_is_true(json_object_get(winner, "coalesced")));
  assert_int_equal(json_integer_value(json_object_get(size, "failed")), 0);
  assert_true(json_integer_value(json_object_get(size, "verified")) > 8); /* more than direct */
  json_decref(doc);
  fx_run(&r, "emit", "reorder.lua", "--store", "own.db", "-o", "reorder.h");
  fx_expect(&r, 0, NULL, NULL);
  const char *nvcc = fx_nvcc();
  if (nvcc) {
    use_header(nvcc, "reorder", "reorder(nullptr, nullptr, 0, nullptr)");
  }
  fx_free(&r);
}

/* ---- a strategy of the user's own ---- */

#define QUADS_STRATEGY                                                                             \
  "return {\n"                                                                                     \
  "  name = \"quads\", doc = \"Four floats a thread.\",\n"                                         \
  "  axes = { { \"threads\", { 128, 256 }, key = \"t\" } },\n"                                     \
  "  template = \"quads.cu\",\n"                                                                   \
  "  plan = function(k, c)\n"                                                                      \
  "    local n = k.extents[1]\n"                                                                   \
  "    return {\n"                                                                                 \
  "      kernel = \"quads\", threads = c.threads, doc = \"Four floats a thread.\",\n"              \
  "      grid = kit.ceil_div(n, 4 * c.threads), requires = { (n % 4):eq(0) },\n"                   \
  "      align = { 16, 16 }, arguments = { \"const float *\", \"float *\" },\n"                    \
  "      traffic = { { operand = 1, width = 16 }, { operand = 2, width = 16 } },\n"                \
  "    }\n"                                                                                        \
  "  end,\n"                                                                                       \
  "}\n"
#define QUADS_TEMPLATE                                                                             \
  "// Four floats a thread: a template of the user's own.\n"                                       \
  "__global__ void quads(const float *a_in, float *b_out, long long n_i) {\n"                      \
  "  const long long i = 4 * (blockIdx.x * $(threads)LL + threadIdx.x);\n"                         \
  "  if (i < n_i) {\n"                                                                             \
  "    float4 v = *(const float4 *)(a_in + i);\n"                                                  \
  "    v.x *= 2.0f, v.y *= 2.0f, v.z *= 2.0f, v.w *= 2.0f;\n"                                      \
  "    *(float4 *)(b_out + i) = v;\n"                                                              \
  "  }\n"                                                                                          \
  "}\n"

static bool file_has(const char *path, const char *text);

/* Nothing of it is the program's: it records no accesses, and its template lies beside it. */
static void a_strategy_from_outside_is_counted_and_emitted(void **state) {
  (void)state;
  fx_result r = {0};
  sct_error err = {0};
  assert_int_equal(sct_dir_make(fx_path("mine"), &err), SCT_OK);
  fx_write("mine/quads.lua", QUADS_STRATEGY);
  fx_write("mine/quads.cu", QUADS_TEMPLATE);
  fx_write("twice.lua", TWICE_OF("2.0f", "2000000"));
  fx_run(&r, "gen", "twice.lua", "--strategies", "mine", "--pick", "quads t128");
  fx_expect(&r, 0, "a template of the user's own", NULL);
  fx_run(&r, "tune", "twice.lua", "--strategies", "mine", "--store", "mine.db", "-d",
         "virtual:h200", "--only", "quads t128", "--json", "-q");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *report =
      json_object_get(json_array_get(json_object_get(doc, "tuned"), 0), "report");
  const json_t *winner = winner_of(json_array_get(json_object_get(report, "sizes"), 1));
  assert_non_null(winner);
  assert_string_equal(json_string_value(json_object_get(winner, "label")), "quads t128");
  assert_true(json_is_true(json_object_get(winner, "coalesced")));
  assert_true(json_number_value(json_object_get(winner, "predicted_ns")) > 0.0);
  assert_true(json_number_value(json_object_get(winner, "sectors")) == 2.0 * 2000000 / 8);
  json_decref(doc);
  fx_run(&r, "emit", "twice.lua", "--store", "mine.db", "-o", "twice.h");
  fx_expect(&r, 0, NULL, NULL);
  assert_true(file_has(fx_path("twice.h"), "a template of the user's own"));
  fx_free(&r);
}

/* ---- ends before the end ---- */

static bool file_has(const char *path, const char *text) {
  sct_str file = {0};
  sct_error err = {0};
  const bool has = sct_file_read(&file, path, &err) == SCT_OK && strstr(sct_str_c(&file), text);
  sct_str_free(&file);
  return has;
}

static void assert_signal_ends(int number, bool ignored, const char *spec) {
  fx_result r = {0};
  const char *const words[] = {"tune",         "twice.lua", FX_SPECS "add_const_double3.lua",
                               "--store",      "int.db",    "-d",
                               "virtual:h200", NULL};
  fx_write("twice.lua", spec);
  (void)unlink(fx_path("int.db"));
  (void)unlink(fx_path("stderr")); /* of the run before */
  fx_use_cache(false);             /* it is not in this one */
  void (*const before)(int) = signal(number, ignored ? SIG_IGN : SIG_DFL);
  const pid_t pid = fx_start(words);
  signal(number, before);
  while (!file_has(fx_path("stderr"), "twice.lua: generate ") && waitpid(pid, NULL, WNOHANG) == 0) {
    usleep(2000);
  }
  assert_int_equal(kill(pid, number), 0);
  if (ignored) { /* it goes on, until it is told by another */
    usleep(50000);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    assert_int_equal(kill(pid, SIGINT), 0);
  }
  fx_finish(&r, pid);
  fx_expect(&r, 130, NULL, "interrupted");
  fx_use_cache(true);
  assert_null(strstr(sct_str_c(&r.out), "add_const_double3 on"));
  fx_free(&r);
}

static void signals_end_with_130(void **state) {
  (void)state;
  assert_signal_ends(SIGINT, false, TWICE_SPEC("5.0f")); /* another each, so that it must compile */
  assert_signal_ends(SIGHUP, false, TWICE_SPEC("7.0f"));
  assert_signal_ends(SIGHUP, true, TWICE_SPEC("8.0f")); /* as under nohup */
}

/* ---- a terminal ---- */

static void a_terminal_sees_the_bar(void **state) {
  (void)state;
  fx_write("twice.lua", TWICE_SPEC("2.0f"));
  int master = -1;
  struct winsize size = {.ws_row = 40, .ws_col = 90};
  setenv("NO_COLOR", "1", 1);
  const pid_t pid = forkpty(&master, NULL, NULL, &size);
  assert_true(pid >= 0);
  if (pid == 0) {
    fx_exec_((const char *const[]){"tune", "twice.lua", "--store", "twice.db", "-d", "virtual:h200",
                                   "--search", "exhaustive", NULL});
  }
  sct_str all = {0};
  char buffer[4096];
  ssize_t n;
  while ((n = read(master, buffer, sizeof buffer)) > 0) {
    sct_str_append_n(&all, buffer, (size_t)n);
  }
  close(master);
  unsetenv("NO_COLOR");
  assert_int_equal(fx_wait_(pid), 0);
  assert_non_null(strstr(sct_str_c(&all), "\r\033[Kcompile  [####"));
  assert_non_null(strstr(sct_str_c(&all), "\r\033[Ktwice on virtual:h200")); /* the bar is gone */
  assert_null(strstr(sct_str_c(&all), "\033[1"));                            /* no colour */
  sct_str_free(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_search_settles),
      cmocka_unit_test(tune_prints_boards_and_tells_progress_apart),
      cmocka_unit_test(no_gpu_is_said_with_what_comes_instead),
      cmocka_unit_test(devices_are_tuned_for_where_the_toolkit_compiles),
      cmocka_unit_test(tune_as_json_has_every_candidate),
      cmocka_unit_test(a_body_without_a_value_is_no_reference),
      cmocka_unit_test(what_was_tuned_is_emitted_and_compiles),
      cmocka_unit_test(a_size_more_joins_the_header),
      cmocka_unit_test(a_listed_size_has_others_around_it),
      cmocka_unit_test(emit_refuses_what_was_not_tuned),
      cmocka_unit_test(a_layout_from_outside_is_tuned_and_emitted),
      cmocka_unit_test(a_strategy_from_outside_is_counted_and_emitted),
      cmocka_unit_test(signals_end_with_130),
      cmocka_unit_test(a_terminal_sees_the_bar),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
