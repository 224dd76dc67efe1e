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
      {COPY "\"args\": [true, \"out\"]", "argument 1 (const T *in): u8 has 1 bytes, expected 8"},
      {COPY "\"args\": [{\"f23\": 1}, 1]",
       "argument 1: expected one type and its value, not 'f23'; did you mean 'f32'?"},
      {COPY "\"args\": [{\"i32\": 1.5}, 1]", "'i32' expects a whole number, not a number"},
      {COPY "\"args\": [{}, 1]", "argument 1: expected one type and its value"},
      {COPY "\"args\": 3", "'args': expected a list, or an object by the parameters' names, not"},
      {COPY "\"agrs\": []", "unknown key 'agrs'; did you mean 'args'?"},
      {COPY "\"args\": [], \"shared\": -1", "'shared': expected bytes, 0 or more"},
      {"\"kernel\": 3, \"args\": []", "'kernel': expected the name of a kernel, not a number"},
      {"\"args\": []", "'kernel': expected the name of a kernel, not nothing"},
      {COPY "\"args\": [\"in\"]", "'args': kernel 'copy<float>' takes 2 (in, out), not 1"},
      {COPY "\"args\": [null, {\"f32\": 1}]", "argument 2 (T *out): f32 has 4 bytes, expected 8"},
      {"\"kernel\": \"scale\", \"args\": [\"out\", 1.5, 300]",
       "argument 3 (char c): 300 does not fit 1 bytes"},
      {"\"kernel\": \"scale\", \"args\": [\"out\", \"in\", 1]",
       "argument 2 (float k): an address has 8 bytes, expected 4"},
      {"\"kernel\": \"scale\", \"args\": [\"out\", [{\"f32\": 1}, null], 1]",
       "argument 2 (float k): the struct's members take 16 bytes, expected 4"},
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

static const char named[] =
    "template <class T> __global__ void __launch_bounds__(256)\n"
    "copy(const T *in, T *out /* , of n */, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = in[i];\n"
    "}\n"
    "__global__ void unnamed(float *, int);\n"
    "__global__ void unnamed(float *x, int) { x[0] = 1; }\n"
    "#define PARAMETERS float *x, int n\n"
    "__global__ void hidden(PARAMETERS) { x[n] = 1; }\n"
    "namespace far {\n"
    "__global__ void pick(const float *table, const int *idx, double *, double);\n"
    "__global__ void pick(const float *table, const int idx[], double *y, double k = (1, 2)) {\n"
    "  y[threadIdx.x] = table[idx[threadIdx.x]] * k;\n"
    "}\n"
    "}\n";

#define LAUNCHED "--kernel", "copy<float>", "--grid", "64", "--block", "256"

static void one_launch_needs_no_manifest(void **state) {
  (void)state;
  fx_result r = {0};
  const char *cu = fx_write("n.cu", named);
  fx_run(&r, "count", cu, "--csv", LAUNCHED, "--arg", "n=16000", "--arg", "out=f32[16000]", "--arg",
         "in=in+4");
  fx_expect(&r, 0, "\ncopy<float>,500,2500,1000,500,2000,500,", NULL);
  fx_run(&r, "count", cu, "--csv", LAUNCHED, "--arg", "in+4", "--arg", "out", "--arg", "16000");
  fx_expect(&r, 0, "\ncopy<float>,500,2500,1000,500,2000,500,", NULL);
  fx_run(&r, "count", cu, "--csv", "--kernel", "far::pick", "--grid", "1,1", "--block", "32",
         "--shared", "64", "--arg", "idx=i32[32]", "--arg", "table=f32[1]", "--arg", "k=1.5",
         "--arg", "y=f64[32]");
  fx_expect(&r, 0, "\nfar::pick,2,5,2,1,8,", NULL);
  fx_run(&r, "count", cu, "--csv", "--kernel", "pick", "--grid", "1", "--block", "32", "--arg",
         "idx=i32[320]:perm", "--arg", "table=f32[320]", "--arg", "k=1.5", "--arg", "y=f64[32]");
  fx_expect(&r, 3, NULL, "did you mean 'far::pick'?");
  fx_run(&r, "count", cu, "--csv", "--cases",
         fx_write("n.json",
                  "[{\"kernel\": \"copy<double>\", \"grid\": [1], \"block\": [32], \"args\": "
                  "{\"out\": \"f64[32]\", \"n\": 32, \"in\": \"f64[32]\"}}]"));
  fx_expect(&r, 0, "\ncopy<double>,1,8,2,1,8,2,", NULL);
  fx_free(&r);
}

/* The value of element i is that of word i, whatever the type: where it points shows. */
static void fills_are_of_the_type(void **state) {
  (void)state;
  static const char *const types[] = {"i8", "u16", "i64", "f16", "f32", "f64"};
  static const int bytes[] = {1, 2, 8, 2, 4, 8};
  static const char *const names[] = {"signed char", "unsigned short", "long long",
                                      "__half",      "float",          "double"};
  fx_result r = {0};
  const char *cu = fx_write("t.cu", "#include <cuda_fp16.h>\n"
                                    "template <class T> __global__ void at(const T *x, char *y) {\n"
                                    "  y[32 * (int)(float)x[threadIdx.x]] = 1;\n"
                                    "}\n");
  for (int k = 0; k < SCT_COUNT(types); k++) {
    char kernel[64], x[64];
    snprintf(kernel, sizeof kernel, "at<%s>", names[k]);
    for (int zero = 0; zero < 2; zero++) {
      snprintf(x, sizeof x, "x=%s[32]%s", types[k], zero ? "" : ":index");
      fx_run(&r, "count", cu, "--csv", "--kernel", kernel, "--grid", "1", "--block", "32", "--arg",
             x, "--arg", "y=u8[1024]");
      snprintf(x, sizeof x, ",1,%d,%d,1,%s,", bytes[k], (bytes[k] + 3) / 4, zero ? "1,1" : "32,8");
      fx_expect(&r, 0, x, NULL);
    }
  }
  fx_free(&r);
}

static void launches_that_are_wrong_say_what_is_legal(void **state) {
  (void)state;
  static const struct {
    int exit_code;
    const char *says, *words[14];
  } bad[] = {
      {2,
       "--grid: expected one to three numbers above 0",
       {"--kernel", "copy<float>", "--grid", "0", "--block", "256"}},
      {2,
       "--grid: expected one to three numbers above 0",
       {"--kernel", "copy<float>", "--grid", "64;2", "--block", "256"}},
      {2,
       "--block: expected one to three numbers above 0",
       {"--kernel", "copy<float>", "--grid", "64", "--block", "1,2,3,4"}},
      {2,
       "--block: expected one to three numbers above 0",
       {"--kernel", "copy<float>", "--grid", "64", "--block", "-1"}},
      {2, "--shared: expected bytes, 0 or more, not text", {LAUNCHED, "--shared", "3x"}},
      {2, "--block is missing", {"--kernel", "copy<float>", "--grid", "64"}},
      {2, "--kernel is missing", {"--grid", "64", "--block", "64"}},
      {2, "expected one of them", {LAUNCHED, "--cases", "cases.json"}},
      {3,
       "n.cu has no kernel 'copi<float>'; did you mean 'copy'?",
       {"--kernel", "copi<float>", "--grid", "64", "--block", "256"}},
      {3,
       "--arg: kernel 'copy<float>' takes 3 (in, out, n), not 2",
       {LAUNCHED, "--arg", "in", "--arg", "out"}},
      {3,
       "argument 'out' is missing: kernel 'copy<float>' takes 3 (in, out, n)",
       {LAUNCHED, "--arg", "in=in", "--arg", "n=3"}},
      {3,
       "kernel 'copy<float>' has no parameter 'outt'; did you mean 'out'?",
       {LAUNCHED, "--arg", "in=in", "--arg", "n=3", "--arg", "outt=out"}},
      {3,
       "argument 3 (int n): an address has 8 bytes, expected 4",
       {LAUNCHED, "--arg", "in=in", "--arg", "n=out", "--arg", "out=out"}},
      {2, "'n' has a value already", {LAUNCHED, "--arg", "in=in", "--arg", "n=3", "--arg", "n=4"}},
      {2, "--arg '3': expected all arguments by name", {LAUNCHED, "--arg", "in=in", "--arg", "3"}},
      {2, "--arg 'n=1x': expected a buffer", {LAUNCHED, "--arg", "n=1x"}},
      {2, "argument 1: unknown buffer 'inn'; did you mean 'in'?", {LAUNCHED, "--arg", "in=inn"}},
      {2,
       "argument 1 'f33[100]': unknown type 'f33'; did you mean 'f32'?",
       {LAUNCHED, "--arg", "in=f33[100]"}},
      {2,
       "argument 1 'f32[0]': expected f32[N] or f32[N]:FILL, N from 1 to 1073741824",
       {LAUNCHED, "--arg", "in=f32[0]"}},
      {2, "argument 1 'f64[536870913]': expected f64[N]", {LAUNCHED, "--arg", "in=f64[536870913]"}},
      {2, "argument 1 'f32[9': expected f32[N]", {LAUNCHED, "--arg", "in=f32[9"}},
      {2, "unknown fill 'prm'; did you mean 'perm'?", {LAUNCHED, "--arg", "in=f32[9]:prm"}},
      {3,
       "give their values in order, without names",
       {"--kernel", "hidden", "--grid", "64", "--block", "256", "--arg", "x=in", "--arg", "n=3"}},
      {3,
       "give their values in order, without names",
       {"--kernel", "unnamed", "--grid", "64", "--block", "256", "--arg", "x=in"}},
      {5,
       "block of 2048 along x, expected 1 to 1024",
       {"--kernel", "copy<int>", "--grid", "64", "--block", "2048", "--arg", "in", "--arg", "out",
        "--arg", "3"}},
      {5,
       "512 threads a block, it takes at most 256",
       {"--kernel", "copy<int>", "--grid", "64", "--block", "64,8", "--arg", "in", "--arg", "out",
        "--arg", "3"}},
      {5,
       "buffer 'out' must have more than 400 bytes",
       {LAUNCHED, "--arg", "in=in", "--arg", "out=f32[100]", "--arg", "n=16000"}},
  };
  fx_result r = {0};
  const char *cu = fx_write("n.cu", named);
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    const char *words[20] = {"count", cu};
    memcpy(words + 2, bad[k].words, sizeof bad[k].words);
    fx_run_list(&r, words);
    fx_expect(&r, bad[k].exit_code, NULL, bad[k].says);
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
       "d.json:5: error: case 'b': 'block': expected a number above 0, or a list of one to three"},
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
  fx_expect(&r, 2, NULL,
            "needs its launches: --cases FILE, or --kernel, --grid and --block; each of");
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
  if (fx_lacks_nvrtc()) {
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(manifests_that_are_wrong_say_where_and_what),
      cmocka_unit_test(one_launch_needs_no_manifest),
      cmocka_unit_test(fills_are_of_the_type),
      cmocka_unit_test(launches_that_are_wrong_say_what_is_legal),
      cmocka_unit_test(plain_names_are_found_in_namespaces),
      cmocka_unit_test(documents_that_are_wrong_say_where),
      cmocka_unit_test(unknown_keys_are_ignored_with_a_warning),
      cmocka_unit_test(files_that_are_wrong_say_where),
      cmocka_unit_test(cases_that_misbehave_do_not_stop_the_others),
      cmocka_unit_test(launches_share_their_memory_and_may_race),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
