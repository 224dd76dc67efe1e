/* Arguments that are left out, given by the names of members, or as lists of addresses. What a
 * kernel was given shows in the sectors that it stores to. */
#include "count_fixture.h"

static const char source[] =
    "enum { WIDTH = 4 };\n"
    "struct inner { short s; float f; };\n"
    "struct shape { char c; double scale; float *out; int n; inner in; float w[3]; };\n"
    "namespace far {\n"
    "constexpr int two = 2;\n"
    "template <class T> struct pair { T a, b; };\n"
    "// __global__ void fill(int *out, int n = 3)\n"
    "template <class T, int N> /* of no use: */\n"
    "__global__ void __launch_bounds__(256) fill(T *out, int n = N * two + WIDTH, T v = T(3),\n"
    "                                            const float *none = nullptr,\n"
    "                                            pair<T> p = {1, 2}) {\n"
    "  if (threadIdx.x < n && !none) out[threadIdx.x * (int)v * (int)p.b] = v;\n"
    "}\n"
    "}\n"
    "extern \"C\" __global__ void later(float *a, int stride = WIDTH, bool flip = false);\n"
    "extern \"C\" __global__ void later(float *a, int stride, bool flip) {\n"
    "  a[threadIdx.x * (flip ? 2 * stride : stride)] = 1;\n"
    "}\n"
    "extern \"C\" __global__ void put(shape s, int m) {\n"
    "  if (threadIdx.x < s.n) {\n"
    "    s.out[threadIdx.x * (int)s.w[2] * s.in.s * (int)s.in.f * m] = (float)s.scale + s.c;\n"
    "  }\n"
    "}\n"
    "class closed { int a; public: float *p; };\n"
    "extern \"C\" __global__ void hides(closed c) { c.p[threadIdx.x] = 1; }\n"
    "extern \"C\" __global__ void rows(float **row, int n) {\n"
    "  for (int i = 0; i < n; i++) if (row[i]) row[i][threadIdx.x] = 1;\n"
    "}\n"
    "struct span { float *p; long long n; };\n"
    "extern \"C\" __global__ void spans(const span *s, int n) {\n"
    "  for (int i = 0; i < n; i++) if (threadIdx.x < s[i].n) s[i].p[threadIdx.x] = 1;\n"
    "}\n";

#define HEAD                                                                                       \
  "{\"buffers\": {\"out\": {\"bytes\": 65536}, \"list\": [\"out\", \"out+4096\", null]}, "         \
  "\"cases\": ["

static void add_case(sct_str *text, int k, const char *kernel, const char *args) {
  sct_str_printf(
      text,
      "%s\n{\"case\": \"c%d\", \"kernel\": \"%s\", \"grid\": 1, \"block\": 32, \"args\": "
      "%s}",
      k > 0 ? "," : HEAD, k, kernel, args);
}

static void run(fx_result *r, sct_str *text) {
  sct_str_append(text, "]}");
  fx_run(r, "count", fx_write("b.cu", source), "--csv", "--cases",
         fx_write("b.json", sct_str_c(text)));
  sct_str_free(text);
}

static void what_fits_is_launched(void **state) {
  (void)state;
  static const struct {
    const char *kernel, *args;
    int sectors;
  } good[] = {
      {"far::fill<float, 4>", "[\"out\"]", 9},                    /* 12 lanes, 24 bytes apart */
      {"far::fill<float, 4>", "{\"out\": \"out\", \"v\": 1}", 3}, /* 8 bytes apart */
      {"far::fill<float, 4>", "[\"out\", 4, 1, null, [1, 1]]", 1},
      {"later", "[\"out\"]", 16},
      {"later", "{\"a\": \"out\", \"flip\": true}", 32},
      {"later", "[\"out\", 1, false]", 4},
      {"put",
       "{\"s\": {\"c\": 1, \"scale\": 2, \"out\": \"out\", \"n\": 16, \"in\": [1, 2], \"w\": [0, "
       "0, 1]}, \"m\": 1}",
       4},
      {"put", "[{\"n\": 32, \"out\": \"out\", \"w[2]\": 1, \"in.s\": 1, \"in.f\": 1}, 1]", 4},
      {"put", "[[1, 2, \"out\", 32, [1, 1.0], [0, 0, 2]], 1]", 8},
      {"hides", "[[{\"i32\": 1}, \"out\"]]", 4},
      {"rows", "[[\"f32[32]\", \"out+4\", null], 3]", 9},
      {"rows", "[\"list\", 3]", 8},
      {"spans", "[[[\"out\", {\"i64\": 8}], [\"f32[32]\", {\"i64\": 32}]], 2]", 5},
  };
  fx_result r = {0};
  sct_str text = {0};
  for (int k = 0; k < SCT_COUNT(good); k++) {
    add_case(&text, k, good[k].kernel, good[k].args);
  }
  run(&r, &text);
  fx_expect(&r, 0, NULL, NULL);
  for (int k = 0; k < SCT_COUNT(good); k++) {
    char name[16];
    snprintf(name, sizeof name, "c%d", k);
    const long long got = fx_figure(sct_str_c(&r.out), name, "sectors_st");
    if (got != good[k].sectors) {
      fail_msg("%s %s: %lld sectors, expected %d", good[k].kernel, good[k].args, got,
               good[k].sectors);
    }
  }
  fx_free(&r);
}

static void what_does_not_fit_says_what_is_expected(void **state) {
  (void)state;
  static const char *const bad[][3] = {
      {"put", "[{\"scal\": 2}, 1]", "class \"shape\" has no member \"scal\""},
      {"put", "[{\"n\": 1.5}, 1]",
       "argument 1 (shape s): a number with a point, expected a whole one of 4 bytes"},
      {"put", "[{\"n;\": 1}, 1]", "argument 1: 'n;' is no name of a member"},
      {"put", "[[1, 2, \"out\"], 1]", "there are more elements than there are binding names"},
      {"put", "[3, 1]", "argument 1 (shape s): a number for 48 bytes; expected a list of its"},
      {"hides", "[[1, 2]]", "non-public member"},
      {"rows", "[[1, 2], 2]",
       "argument 1 (float **row): expected a buffer, or a list of buffers, null and"},
      {"later", "[\"out\", 1, true, 4]", "kernel 'later' takes 3 (a, stride, flip), not 4"},
      {"far::fill<float, 4>", "{\"v\": 1}", "argument 'out' is missing: kernel"},
  };
  fx_result r = {0};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    sct_str text = {0};
    add_case(&text, 0, bad[k][0], bad[k][1]);
    run(&r, &text);
    fx_expect(&r, 3, NULL, bad[k][2]);
    fx_expect(&r, 3, NULL, "b.json:2: error: case 'c0': ");
  }
  fx_free(&r);
}

static void options_take_the_same(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "count", fx_write("b.cu", source), "--csv", "--kernel", "later", "--grid", "1",
         "--block", "32", "--arg", "a=f32[512]", "--arg", "flip=true");
  fx_expect(&r, 0, "\nlater,0,0,0,1,32,", NULL);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_fits_is_launched),
      cmocka_unit_test(what_does_not_fit_says_what_is_expected),
      cmocka_unit_test(options_take_the_same),
  };
  return fx_lacks_nvrtc() ? 77 : cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
