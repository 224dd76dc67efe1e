/* What is said of manifests and files that are wrong, and of cases that misbehave. */
#include "count_fixture.h"

static const char source[] = "template <class T> __global__ void copy(const T *in, T *out) {\n"
                             "  out[threadIdx.x] = in[threadIdx.x];\n"
                             "}\n"
                             "namespace far { __global__ void away(const float *in, float *out) {\n"
                             "  out[threadIdx.x] = in[threadIdx.x + (1 << 24)];\n"
                             "} }\n"
                             "__device__ int helper() { return 1; }\n"
                             "namespace far { extern \"C\" __global__ void plain(float *out) {\n"
                             "  out[threadIdx.x] = 1;\n"
                             "} }\n"
                             "extern \"C\" __global__ void scale(float *x, float k, char c) {\n"
                             "  x[threadIdx.x] *= k + c;\n"
                             "}\n";

/* One case with these keys, on line 2. */
static const char *manifest(const char *keys) {
  sct_str text = {0};
  sct_str_printf(&text, "[\n{\"case\": \"c\", \"grid\": [1], \"block\": [32], %s}\n]\n", keys);
  const char *path = fx_write("cases.json", sct_str_c(&text));
  sct_str_free(&text);
  return path;
}

#define COPY "\"kernel\": \"copy<float>\", "

static void manifests_that_are_wrong_say_where_and_what(void **state) {
  (void)state;
  static const struct {
    const char *keys, *says;
  } bad[] = {
      {COPY "\"args\": [\"in\", \"uot\"]", "argument 2: unknown buffer 'uot'; did you mean 'out'?"},
      {COPY "\"args\": [\"in+\", \"out\"]", "argument 1 'in+': expected a byte offset"},
      {COPY "\"args\": [\"in+67108865\", \"out\"]", "a byte offset from 0 to 67108864"},
      {COPY "\"args\": [true, \"out\"]", "argument 1: expected a buffer, a number"},
      {COPY "\"args\": [{\"f23\": 1}, 1]",
       "argument 1: expected one type and its value, not 'f23'; did you mean 'f32'?"},
      {COPY "\"args\": [{\"i32\": 1.5}, 1]", "'i32' expects a whole number, not a number"},
      {COPY "\"args\": [{}, 1]", "argument 1: expected one type and its value"},
      {COPY "\"args\": 3", "'args': expected a list, not a number"},
      {COPY "\"agrs\": []", "unknown key 'agrs'; did you mean 'args'?"},
      {COPY "\"args\": [], \"shared\": -1", "'shared': expected bytes, 0 or more"},
      {"\"kernel\": 3, \"args\": []", "'kernel': expected the name of a kernel, not a number"},
      {"\"args\": []", "'kernel': expected the name of a kernel, not nothing"},
      {COPY "\"args\": [\"in\"]", "'args': kernel 'copy<float>' takes 2, not 1"},
      {COPY "\"args\": [1.5, {\"f32\": 1}]", "argument 2: f32 has 4 bytes, the parameter 8"},
      {"\"kernel\": \"scale\", \"args\": [\"out\", 1.5, 300]",
       "argument 3: 300 does not fit the parameter's 1 bytes"},
      {"\"kernel\": \"scale\", \"args\": [\"out\", \"in\", 1]",
       "argument 2: an address has 8 bytes, the parameter 4"},
      {"\"kernel\": \"scale\", \"args\": [\"out\", [{\"f32\": 1}, 2], 1]",
       "argument 2: the struct's members take 8 bytes, the parameter has 4"},
      {"\"kernel\": \"scalle\", \"args\": []", "has no kernel 'scalle'; did you mean 'scale'?"},
      {"\"kernel\": \"copi<float>\", \"args\": []", "did you mean 'copy'?"},
      {"\"kernel\": \"copy<flo>\", \"args\": []", "identifier \"flo\" is undefined"},
      {"\"kernel\": \"away\", \"args\": []", "did you mean 'far::away'?"},
      {"\"kernel\": \"helper\", \"args\": []", "has no kernel 'helper'"},
      {"\"kernel\": \"copy\", \"args\": []",
       "has no kernel 'copy'; a template is named with its arguments, as in 'copy<float>'"},
  };
  const char *cu = fx_write("k.cu", source);
  fx_result r = {0};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    fx_run(&r, "count", cu, "--cases", manifest(bad[k].keys));
    fx_expect(&r, 3, NULL, bad[k].says);
    fx_expect(&r, 3, NULL, "cases.json:2: error: case 'c': ");
    assert_int_equal(r.out.len, 0);
  }
  fx_free(&r);
}

/* C++ knows it as far::plain only, the linker as plain. */
static void plain_names_are_found_in_namespaces(void **state) {
  (void)state;
  const char *cu = fx_write("k.cu", source);
  fx_result r = {0};
#define LAUNCH ", \"grid\": [1], \"block\": [8], \"args\": [\"out\"]}"
  fx_run(&r, "count", cu, "--csv", "--cases",
         fx_write("plain.json", "[{\"case\": \"a\", \"kernel\": \"plain\"" LAUNCH ",\n"
                                "{\"case\": \"b\", \"kernel\": \"far::plain\"" LAUNCH "]"));
  fx_expect(&r, 0, "\na,0,0,0,1,1,1,1,1,0,0,0,0,exact\nb,0,0,0,1,1,1,", NULL);
  fx_free(&r);
}

static void documents_that_are_wrong_say_where(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"[\n{\"case\": \"a\",\n\"kernel\" \"k\"}]", "d.json:3: error: not JSON: ':' expected"},
      {"[\n{\"case\": \"a\", \"case\": \"b\"}]", "d.json:2: error: not JSON: duplicate object key"},
      {"", "d.json:1: error: not JSON"},
      {"[]", "d.json: error: expected a list of at least one case, not an empty one"},
      {"3", "not JSON"},
      {"{\"cases\": 3}", "expected a list of at least one case in 'cases', not a number"},
      {"{\"buffer\": {}, \"cases\": []}", "unknown key 'buffer'; did you mean 'buffers'?"},
      {"{\"buffers\": {\"x\": 3}, \"cases\": []}", "'x': expected {\"bytes\": N"},
      {"{\"buffers\": {\"x\": {\"bytes\": 0}}}", "buffer 'x': 'bytes': expected a whole number"},
      {"{\"buffers\": {\"x\": {\"bytes\": 4, \"fill\": \"zeroo\"}}}",
       "unknown fill 'zeroo'; did you mean 'zero'?"},
      {"{\"buffers\": {\"x+1\": {\"bytes\": 4}}}", "a name may not be empty or hold a '+'"},
      {"{\"cases\":\n[{\"kernel\": \"k\", \"args\": [],\n\"grid\": [1], \"block\": [1]},\n\n"
       "{\"case\": \"b\", \"kernel\": \"{[,\", \"args\": [], \"grid\": [1], \"block\": [0]}]}",
       "d.json:5: error: case 'b': 'block': expected a list of one to three numbers above 0"},
      {"[3]", "d.json:1: error: 'cases': expected objects, not a number"},
  };
  const char *cu = fx_write("k.cu", source);
  fx_result r = {0};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    fx_run(&r, "count", cu, "--cases", fx_write("d.json", bad[k].text));
    fx_expect(&r, 3, NULL, bad[k].says);
  }
  fx_free(&r);
}

static void unknown_keys_are_ignored_with_a_warning(void **state) {
  (void)state;
  fx_result r = {0};
  const char *cu = fx_write("k.cu", source);
  fx_run(&r, "count", cu, "--csv", "--cases",
         manifest(COPY "\"args\": [\"in\", \"out\"], \"comment\": \"mine\""));
  fx_expect(&r, 0, "\nc,1,4,1,1,4,1,8,8,0,0,0,0", "unknown key 'comment' is ignored");
  fx_free(&r);
}

static void files_that_are_wrong_say_where(void **state) {
  (void)state;
  fx_result r = {0};
  const char *cases = manifest(COPY "\"args\": [\"in\", \"out\"]");
  fx_run(&r, "count", "nowhere.cu", "--cases", cases);
  fx_expect(&r, 1, NULL, "nowhere.cu");
  fx_run(&r, "count", fx_write("k.cu", source), "--cases", "nowhere.json");
  fx_expect(&r, 1, NULL, "nowhere.json");
  fx_run(&r, "count", fx_write("bad.cu", "#include <cstdint>\n\nint x = y;\n"), "--cases", cases);
  fx_expect(&r, 3, NULL, "bad.cu:3: error: identifier \"y\" is undefined");
  assert_null(strstr(sct_str_c(&r.err), "nv_name_map"));
  fx_run(&r, "count", fx_write("inc.cu", "#include \"not_there.h\"\n"), "--cases", cases);
  fx_expect(&r, 3, NULL, "inc.cu:1: catastrophic error: cannot open source file");
  fx_run(&r, "count", "k.cu");
  fx_expect(&r, 2, NULL, "needs --cases");
  fx_run(&r, "count", "k.cu", "--cases", cases, "--csv", "--json");
  fx_expect(&r, 2, NULL, "expected one of them");
  fx_run(&r, "count", "k.cu", "--cases", cases, "--arch", "sm_91");
  fx_expect(&r, 2, NULL, "did you mean 'sm_90'");
  fx_run(&r, "count", "k.cu", "--cases", cases, "--by", "lines");
  fx_expect(&r, 2, NULL, "did you mean 'line'");
  fx_free(&r);
}

/* A case that misbehaves, one that asks too much, and what runs after them. */
static void cases_that_misbehave_do_not_stop_the_others(void **state) {
  (void)state;
  static const char cases[] =
      "[{\"case\": \"far\", \"kernel\": \"far::away\", \"grid\": [1], \"block\": [32], "
      "\"args\": [\"in\", \"out\"]},\n"
      "{\"case\": \"wide\", \"kernel\": \"copy<int>\", \"grid\": [1], \"block\": [2048], "
      "\"args\": [\"in\", \"out\"]},\n"
      "{\"case\": \"odd\", \"kernel\": \"copy<int>\", \"grid\": [1], \"block\": [32], "
      "\"args\": [\"in\", \"out+2\"]},\n"
      "{\"case\": \"good, \\\"last\\\"\", \"kernel\": \"copy<int>\", \"grid\": [1], "
      "\"block\": [32], \"args\": [\"in\", \"out\"]}]";
  fx_result r = {0};
  const char *cu = fx_write("k.cu", source);
  fx_run(&r, "count", cu, "--cases", fx_write("e.json", cases), "--csv");
  fx_expect(&r, 5, "\nfar,,,,,,,,,,,,,failed\n", "case 'far': out_of_bounds: ");
  fx_expect(&r, 5, "\nwide,,,,,,,,,,,,,failed\n", "case 'wide': kernel ");
  fx_expect(&r, 5, "\nodd,,,,,,,,,,,,,failed\n", "case 'odd': misaligned: ");
  fx_expect(&r, 5, "\n\"good, \"\"last\"\"\",1,4,1,1,4,1,8,8,0,0,0,0", "line 5 of ");
  fx_run(&r, "count", cu, "--cases", fx_path("e.json"), "--json");
  fx_expect(&r, 5, NULL, NULL);
  json_t *doc = fx_json(&r);
  json_t *far = json_array_get(json_object_get(doc, "cases"), 0);
  json_t *d = json_object_get(far, "diagnosis");
  assert_int_equal(json_integer_value(json_object_get(doc, "failed")), 3);
  assert_int_equal(json_integer_value(json_object_get(doc, "exit_code")), 5);
  assert_string_equal(json_string_value(json_object_get(d, "kind")), "out_of_bounds");
  assert_int_equal(json_integer_value(json_object_get(d, "line")), 5);
  assert_int_equal(json_integer_value(json_object_get(d, "lane")), 0);
  assert_true(json_integer_value(json_object_get(d, "address")) > 0);
  assert_null(json_object_get(far, "sectors_ld")); /* what ran before it is no count */
  json_decref(doc);
  fx_free(&r);
}

/* Buffers are not cleared between cases; races and uninitialised shared memory are no failure. */
static void launches_share_their_memory_and_may_race(void **state) {
  (void)state;
  const char *cu = fx_write(
      "s.cu", "extern \"C\" __global__ void put(int *x, int v) { x[0] = v + threadIdx.x % v; }\n"
              "extern \"C\" __global__ void jump(const int *x, int *y) { y[64 * x[0]] = 1; }\n"
              "extern \"C\" __global__ void mess(int *y) { __shared__ int s[64];\n"
              "  if (threadIdx.x > 40) return;\n"
              "  y[0] = s[threadIdx.x]; __syncthreads(); s[0] = threadIdx.x; }\n");
  const char *cases = fx_write(
      "s.json",
      "{\"buffers\": {\"x\": {\"bytes\": 4}, \"y\": {\"bytes\": 1024, \"fill\": \"index\"}},"
      "\"cases\": [{\"kernel\": \"jump\", \"grid\": [1], \"block\": [1], \"args\": [\"x\", \"y\"]},"
      "{\"kernel\": \"put\", \"grid\": [1], \"block\": [32], \"args\": [\"x\", 4]},"
      "{\"kernel\": \"mess\", \"grid\": [2], \"block\": [64], \"args\": [\"y\"]},"
      "{\"case\": \"out\", \"kernel\": \"jump\", \"grid\": [1], \"block\": [1], "
      "\"args\": [\"x\", \"y\"]}]}");
  fx_result r = {0};
  fx_run(&r, "count", cu, "--cases", cases, "--csv");
  fx_expect(&r, 5, "\nput,0,0,0,1,1,1,", "case 'out': out_of_bounds: ");
  fx_expect(&r, 5, "\nmess,0,0,0,4,4,4,", NULL);
  assert_null(strstr(sct_str_c(&r.err), "race"));
  fx_free(&r);
}

int main(void) {
  void *state = NULL;
  fx_setup(&state);
  const bool nvrtc = fx_has_nvrtc();
  fx_teardown(&state);
  if (!nvrtc) {
    print_message("no NVRTC\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(manifests_that_are_wrong_say_where_and_what),
      cmocka_unit_test(plain_names_are_found_in_namespaces),
      cmocka_unit_test(documents_that_are_wrong_say_where),
      cmocka_unit_test(unknown_keys_are_ignored_with_a_warning),
      cmocka_unit_test(files_that_are_wrong_say_where),
      cmocka_unit_test(cases_that_misbehave_do_not_stop_the_others),
      cmocka_unit_test(launches_share_their_memory_and_may_race),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
