/* What needs no device and no compiler: space, gen, init and examples, on worked specs. */
#include "cli/cli_internal.h"
#include "cli_fixture.h"

#include <sys/stat.h>

static int64_t integer(const json_t *doc, const char *key) {
  const json_t *value = json_object_get(doc, key);
  if (!json_is_integer(value)) {
    fail_msg("'%s' is no integer", key);
  }
  return json_integer_value(value);
}

/* ---- space ---- */

static void the_space_of_add_const_is_large_and_adds_up(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "space", FX_SPECS "add_const_double3.lua", "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const int64_t candidates = integer(doc, "candidates");
  assert_true(candidates >= 100);

  const json_t *item;
  size_t k;
  int64_t pruned = 0, of_strategies = 0;
  json_array_foreach(json_object_get(doc, "pruned"), k, item) {
    pruned += integer(item, "count");
    assert_true(json_string_length(json_object_get(item, "strategy")) > 0);
    assert_true(json_string_length(json_object_get(item, "reason")) > 0);
  }
  assert_true(pruned > 0);
  json_array_foreach(json_object_get(doc, "strategies"), k, item) {
    of_strategies += integer(item, "candidates");
    assert_true(json_string_length(json_object_get(item, "doc")) > 0);
    const bool applies = json_is_true(json_object_get(item, "applies"));
    assert_int_equal(json_is_string(json_object_get(item, "why_not")), !applies);
    assert_int_equal(integer(item, "candidates") > 0, applies);
    const json_t *axis = json_array_get(json_object_get(item, "axes"), 0);
    assert_true(!applies || json_array_size(json_object_get(axis, "values")) > 0);
  }
  assert_int_equal(of_strategies, candidates);
  const json_t *array = json_array_get(json_object_get(doc, "arrays"), 0);
  assert_true(json_number_value(json_object_get(array, "used_bytes")) > 0);
  assert_true(json_number_value(json_object_get(array, "used_bytes")) <=
              32 * json_number_value(json_object_get(array, "sectors")));
  assert_int_equal(json_array_size(json_object_get(doc, "failed")), 0);
  assert_int_equal(integer(doc, "points"), integer(doc, "collapsed") + pruned + candidates);
  assert_string_equal(json_string_value(json_object_get(doc, "device")), "virtual:h200");
  json_decref(doc);
  fx_free(&r);
}

static void space_explains_itself_in_text(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "space", FX_SPECS "transpose_f32.lua");
  fx_expect(&r, 0, "transpose_f32 for virtual:h200 (NVIDIA H200): ", NULL);
  fx_expect(&r, 0, "does not apply; requires: ", NULL);
  fx_expect(&r, 0, "pruned because", NULL);
  fx_expect(&r, 0, "threads per block", NULL); /* what an axis is for */
  assert_int_equal(r.err.len, 0);
  fx_free(&r);
}

/* ---- space --modes ---- */

#define KV SCT_TESTS_DIR "/cases/kv.lua"

static void modes_are_shown_with_strides(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "space", KV, "--modes");
  fx_expect(&r, 0, "kv_gather: modes (", NULL);
  fx_expect(&r, 0, "token0_head_d  token, head, d  16 * n_d * n_head  16384", NULL);
  fx_expect(&r, 0, "requires n_token % 16 == 0", NULL);
  fx_expect(&r, 0, "modes of the naive variant", NULL);
  fx_expect(&r, 0, "by bt, not affine", NULL);
  fx_free(&r);
}

static void modes_are_data(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "space", KV, "--modes", "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const char *name, *by, *far, *from;
  json_int_t size = 0;
  assert_int_equal(json_unpack(doc, "{s:{s:[{s:s, s:[s], s:[I], s:{s:s, s:s}}, {}]}}", "merging",
                               "modes", "name", &name, "dims", &from, "sizes", &size, "strides",
                               "cache", &by, "o", &far),
                   0);
  assert_string_equal(name, "token1");
  assert_string_equal(from, "token");
  assert_int_equal(size, 4096);
  assert_string_equal(by, "by bt");
  assert_string_equal(far, "32 * n_d * n_head");
  json_decref(doc);
  fx_free(&r);
}

static int64_t count_of_strategy(const char *device, const char *name) {
  fx_result r = {0};
  fx_run(&r, "space", FX_SPECS "indirect_f32.lua", "--json", "-d", device, "--strategies", "mine");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  assert_string_equal(json_string_value(json_object_get(doc, "device")), device);
  const json_t *item;
  size_t k;
  int64_t found = -1;
  json_array_foreach(json_object_get(doc, "strategies"), k, item) {
    if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0) {
      found = integer(item, "candidates");
    }
  }
  json_decref(doc);
  fx_free(&r);
  return found;
}

/* A strategy from a folder of the user's, with a constraint on what the device has. */
static void own_strategies_see_the_device(void **state) {
  (void)state;
  fx_result r = {0};
  sct_str text = {0};
  sct_error err = {0};
  assert_int_equal(sct_file_read(&text, SCT_ROOT_DIR "/tuning/strategies/windows.lua", &err),
                   SCT_OK);
  fx_replace(&text, "name = \"windows\"", "name = \"mine\"");
  fx_replace(&text, "cuda.new(k, \"windows\"", "cuda.new(k, \"mine\"");
  fx_replace(&text, "\"scatter == 0 or (items <= 8 and windows <= 8)\"",
             "\"threads * 200 <= optin\"");
  fx_replace(&text, "{ \"scatter\",", "{ \"optin\", k.device.smem_optin_bytes }, { \"scatter\",");
  assert_int_equal(mkdir(fx_path("mine"), 0700), 0);
  fx_write("mine/mine.lua", sct_str_c(&text));
  const int64_t small = count_of_strategy("virtual:t4", "mine"); /* 64 KiB a block */
  assert_true(small > 0);
  assert_true(small < count_of_strategy("virtual:h200", "mine")); /* 227 KiB */
  fx_run(&r, "space", FX_SPECS "indirect_f32.lua", "--strategies", "mine", "-d", "virtual:t4");
  fx_expect(&r, 0, "\n  mine ", NULL);
  fx_expect(&r, 0, "threads * 200 <= optin", NULL);
  fx_run(&r, "space", FX_SPECS "shifted.lua", "--strategies", "nowhere");
  fx_expect(&r, 1, NULL, "nowhere");
  sct_str_free(&text);
  fx_free(&r);
}

/* ---- gen ---- */

static void gen_prints_the_naive_kernel_unless_told(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "gen", FX_SPECS "add_const_double3.lua");
  fx_expect(&r, 0, "__global__", "direct threads=256: kernel direct, 256 threads a block");
  fx_expect(&r, 0, "b.x = a.x + k; b.y = a.y + k; b.z = a.z + k;", NULL);
  assert_null(strstr(sct_str_c(&r.out), "#include"));
  assert_null(strstr(sct_str_c(&r.out), "$("));
  fx_run(&r, "-q", "gen", FX_SPECS "add_const_double3.lua");
  assert_int_equal(r.err.len, 0);
  fx_free(&r);
}

static void gen_as_json_has_source_and_launch(void **state) {
  (void)state;
  fx_result r = {0}, plain = {0};
  const char *label = "map threads=128 items=2 vec=2 evict=streaming";
  fx_run(&plain, "gen", FX_SPECS "add_const_double3.lua", "--pick", label);
  fx_expect(&plain, 0, "__global__", label);
  fx_run(&r, "gen", FX_SPECS "add_const_double3.lua", "--pick", label, "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  assert_string_equal(json_string_value(json_object_get(doc, "label")), label);
  assert_string_equal(json_string_value(json_object_get(doc, "source")), sct_str_c(&plain.out));
  const json_t *launch = json_object_get(doc, "launch");
  assert_int_equal(integer(launch, "threads"), 128);
  assert_string_equal(json_string_value(json_object_get(launch, "kernel")),
                      json_string_value(json_object_get(doc, "kernel")));
  assert_int_equal(integer(json_object_get(doc, "axes"), "items"), 2);
  json_decref(doc);
  fx_free(&plain);
  fx_free(&r);
}

static void the_list_has_what_space_counts(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "space", FX_SPECS "shifted.lua", "--json");
  json_t *doc = fx_json(&r);
  const int64_t candidates = integer(doc, "candidates");
  json_decref(doc);
  fx_run(&r, "gen", FX_SPECS "shifted.lua", "--list");
  fx_expect(&r, 0, "direct threads=256\n", NULL);
  int64_t lines = 0;
  for (const char *at = sct_str_c(&r.out); *at; at++) {
    lines += *at == '\n';
  }
  assert_int_equal(lines, candidates);
  fx_run(&r, "gen", FX_SPECS "shifted.lua", "--list", "--json");
  doc = fx_json(&r);
  assert_int_equal(json_array_size(json_object_get(doc, "labels")), candidates);
  json_decref(doc);
  fx_free(&r);
}

static void an_unknown_label_names_the_nearest(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "gen", FX_SPECS "add_const_double3.lua", "--pick", "direct threads=265");
  fx_expect(&r, 2, NULL, "did you mean 'direct threads=256'?");
  assert_int_equal(r.out.len, 0);
  fx_run(&r, "gen", FX_SPECS "add_const_double3.lua", "--pick", "entirely something else");
  fx_expect(&r, 2, NULL, "a label begins with a strategy; expected one of");
  fx_free(&r);
}

/* Two candidates of different strategies, as nvcc sees them. */
static void picked_sources_compile(void **state) {
  (void)state;
  const char *nvcc = fx_nvcc();
  if (!nvcc) {
    print_message("no nvcc here: generated sources are not compiled\n");
    skip();
  }
  fx_result r = {0};
  fx_run(&r, "gen", FX_SPECS "add_const_double3.lua", "--list");
  const char *other = strstr(sct_str_c(&r.out), "\nmap ");
  assert_non_null(other);
  char label[96];
  snprintf(label, sizeof label, "%.*s", (int)strcspn(other + 1, "\n"), other + 1);
  const char *const labels[] = {"direct threads=256", label};
  for (int k = 0; k < SCT_COUNT(labels); k++) {
    fx_run(&r, "gen", FX_SPECS "add_const_double3.lua", "--pick", labels[k]);
    fx_expect(&r, 0, "__global__", labels[k]);
    fx_write("picked.cu", sct_str_c(&r.out));
    /* 177: an index that this kernel happens not to need; emitted headers silence it too */
    fx_compile(nvcc, "-ptx -Werror all-warnings -diag-suppress 177 picked.cu -o picked.ptx");
    sct_str ptx = {0};
    sct_error err = {0};
    assert_int_equal(sct_file_read(&ptx, fx_path("picked.ptx"), &err), SCT_OK);
    assert_non_null(strstr(sct_str_c(&ptx), ".entry"));
    sct_str_free(&ptx);
  }
  fx_free(&r);
}

/* A template that is wrong is told with its place, and takes no other strategy with it. */
static void a_broken_template_fails_its_candidates_only(void **state) {
  (void)state;
  fx_result r = {0};
  assert_int_equal(mkdir(fx_path("assets"), 0700), 0);
  assert_int_equal(mkdir(fx_path("assets/templates"), 0700), 0);
  fx_write("assets/templates/map_kernel.cu", "// line one\n$(nothing.here)\n");
  fx_run(&r, "space", FX_SPECS "shifted.lua", "--assets", fx_path("assets"), "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *failed = json_object_get(doc, "failed");
  assert_true(json_array_size(failed) > 0);
  const char *detail = json_string_value(json_object_get(json_array_get(failed, 0), "detail"));
  assert_non_null(detail);
  assert_non_null(strstr(detail, "map_kernel.cu:2: error: "));
  assert_true(integer(doc, "candidates") > 0); /* direct has a template of its own */
  char more[32];
  snprintf(more, sizeof more, " and %zu more: ", json_array_size(failed) - 1);
  json_decref(doc);
  fx_run(&r, "space", FX_SPECS "shifted.lua", "--assets", fx_path("assets"));
  fx_expect(&r, 0, more, NULL); /* one reason, one line */
  const char *line = strstr(sct_str_c(&r.out), "  failed: ");
  assert_non_null(line);
  assert_null(strstr(line + 1, "  failed: "));
  fx_free(&r);
}

/* ---- init and examples ---- */

static void init_writes_a_spec_that_is_right_and_overwrites_nothing(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "init", "start/here");
  fx_expect(&r, 0, "sectile tune start/here/my_kernel.lua --budget 60s",
            "start/here/my_layout.lua");
  fx_run(&r, "check", "start/here/my_kernel");
  fx_expect(&r, 0, "ok (2 operands, 1 size,", NULL);
  fx_run(&r, "tune", "start/here/my_kernel", "-d", "h200", "--max-candidates", "4", "-q", "--store",
         "start.db");
  fx_expect(&r, 0, "*   1  exchange ", NULL); /* it wins, and not by a little */
  fx_expect(&r, 0, "     3.8", NULL);
  fx_write("start/here/my_layout2.lua",
           "local s = require \"sectile\"\n"
           "return s.kernel { name = \"laid\", dims = { \"i\" },\n"
           "  inputs = { s.array(\"a\", \"f32\") },\n"
           "  outputs = { s.array(\"b\", \"f32\", s.layout \"my_layout.lua\" { lanes = 16 }) },\n"
           "  body = \"b = a;\", sizes = { { i = 100 } } }\n");
  fx_run(&r, "check", "start/here/my_layout2.lua");
  fx_expect(&r, 0, "ok (2 operands", NULL);
  const char *spec = fx_write("start/here/my_kernel.lua", "-- mine now\n");
  assert_int_equal(remove(fx_path("start/here/my_layout.lua")), 0);
  fx_run(&r, "init", "start/here");
  fx_expect(&r, 2, NULL, "my_kernel.lua' exists and is left alone; nothing was written");
  assert_false(sct_file_exists(fx_path("start/here/my_layout.lua")));
  sct_str text = {0};
  sct_error err = {0};
  assert_int_equal(sct_file_read(&text, spec, &err), SCT_OK);
  assert_string_equal(sct_str_c(&text), "-- mine now\n");
  sct_str_free(&text);
  fx_run(&r, "init", "--json"); /* into the working folder */
  fx_expect(&r, 0, "./my_kernel.lua", NULL);
  json_t *doc = fx_json(&r);
  assert_int_equal(json_array_size(json_object_get(doc, "files")), 2);
  json_decref(doc);
  assert_true(sct_file_exists(fx_path("my_layout.lua")));
  fx_free(&r);
}

static void examples_are_listed_printed_and_written(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "examples");
  fx_expect(&r, 0, "\ntranspose_f32 ", NULL);
  fx_expect(&r, 0, "Transpose a matrix of f32", NULL);
  fx_run(&r, "examples", "--json");
  json_t *doc = fx_json(&r);
  const json_t *list = json_object_get(doc, "examples"), *example;
  size_t k;
  assert_true(json_array_size(list) >= 11);
  json_array_foreach(list, k, example) {
    assert_true(json_string_length(json_object_get(example, "doc")) > 20);
  }
  json_decref(doc);

  sct_str text = {0};
  sct_error err = {0};
  assert_int_equal(sct_file_read(&text, FX_SPECS "stride3.lua", &err), SCT_OK);
  fx_run(&r, "examples", "stride3");
  assert_int_equal(r.exit_code, 0);
  assert_string_equal(sct_str_c(&r.out), sct_str_c(&text));
  fx_run(&r, "examples", "stride3", "-o", "ex");
  fx_expect(&r, 0, NULL, "wrote ex/stride3.lua");
  fx_run(&r, "check", "ex/stride3.lua");
  fx_expect(&r, 0, "ex/stride3.lua: ok", NULL);
  fx_run(&r, "examples", "-o", "ex");
  fx_expect(&r, 2, NULL, "'ex/stride3.lua' exists");
  assert_false(sct_file_exists(fx_path("ex/shifted.lua")));
  fx_run(&r, "examples", "-o", "all");
  fx_expect(&r, 0, NULL, "all/shifted.lua");
  fx_run(&r, "examples", "stride33");
  fx_expect(&r, 2, NULL, "did you mean 'stride3'?");
  sct_str_free(&text);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_space_of_add_const_is_large_and_adds_up),
      cmocka_unit_test(space_explains_itself_in_text),
      cmocka_unit_test(modes_are_shown_with_strides),
      cmocka_unit_test(modes_are_data),
      cmocka_unit_test(own_strategies_see_the_device),
      cmocka_unit_test(gen_prints_the_naive_kernel_unless_told),
      cmocka_unit_test(gen_as_json_has_source_and_launch),
      cmocka_unit_test(the_list_has_what_space_counts),
      cmocka_unit_test(an_unknown_label_names_the_nearest),
      cmocka_unit_test(picked_sources_compile),
      cmocka_unit_test(a_broken_template_fails_its_candidates_only),
      cmocka_unit_test(init_writes_a_spec_that_is_right_and_overwrites_nothing),
      cmocka_unit_test(examples_are_listed_printed_and_written),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
