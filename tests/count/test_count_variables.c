/* Variables of a file: what launches leave to each other, and what a manifest sets. */
#include "count_fixture.h"

/* `probe` stores beside what it reads, so that its sectors tell what that is. */
static const char source[] =
    "namespace far { __constant__ int step = 1; }\n"
    "__device__ int bumped;\n"
    "__constant__ float weights[4];\n"
    "__device__ const int *table;\n"
    "__constant__ struct { short n; float x; } mix;\n"
    "__global__ void bump() { if (threadIdx.x == 0) bumped += 8; }\n"
    "__global__ void probe(int *o) { o[threadIdx.x * far::step + bumped] = 1; }\n"
    "__global__ void weigh(char *o) { o[32 * (int)weights[threadIdx.x % 4]] = 1; }\n"
    "__global__ void follow(char *o) { o[32 * table[threadIdx.x]] = 1; }\n"
    "__global__ void mixed(char *o) { o[threadIdx.x * mix.n * (int)mix.x] = 1; }\n";

#define ONE "\"grid\": 1, \"block\": 32"

#define HEAD "{\"buffers\": {\"out\": {\"bytes\": 65536}}, \"cases\": ["

static void add_case(sct_str *text, int k, const char *settings, const char *kernel) {
  sct_str_printf(text,
                 "%s{\"case\": \"c%d\", \"kernel\": \"%s\", " ONE
                 ", \"args\": [\"out\"], \"variables\": {%s}}",
                 k > 0 ? ", " : HEAD, k, kernel, settings);
}

static void launches_leave_variables_to_each_other(void **state) {
  (void)state;
  fx_result r = {0};
  const char *cu = fx_write("v.cu", source);
  fx_run(&r, "count", cu, "--csv", "--cases",
         fx_write("v.json",
                  "[{\"kernel\": \"probe\", " ONE ", \"args\": [\"i32[32]\"], \"case\": \"one\"},\n"
                  "{\"kernel\": \"bump\", " ONE ", \"args\": []},\n"
                  "{\"kernel\": \"probe\", " ONE ", \"args\": [\"i32[32]\"], \"case\": \"two\"}]"));
  fx_expect(&r, 5, "\none,", "case 'two': out_of_bounds");
  assert_int_equal(fx_figure(sct_str_c(&r.out), "one", "sectors_st"), 4);
  fx_free(&r);
}

static void a_manifest_sets_variables(void **state) {
  (void)state;
  static const struct {
    const char *settings, *kernel;
    int sectors;
  } good[] = {
      {"\"step\": 8", "probe", 32},
      {"\"far::step\": {\"i32\": 2}", "probe", 8},
      {"\"step\": {\"fill\": \"values=4\"}", "probe", 16},
      {"\"weights\": {\"f32\": [0, 1]}", "weigh", 2}, /* the others stay 0 */
      {"\"weights\": {\"type\": \"f32\", \"bytes\": 12, \"fill\": \"index\"}", "weigh", 3},
      {"\"weights\": {\"f32\": [0, 1, 2, 3]}", "weigh", 4},
      {"\"weights\": {\"type\": \"f32\", \"fill\": \"index\"}", "weigh", 4},
      {"\"weights\": [0.0, 5.0, 0.0, 5.0]", "weigh", 2},
      {"\"table\": \"i32[32]:perm\"", "follow", 32},
      {"\"table\": \"i32[32]\"", "follow", 1},
      {"\"mix\": [{\"i16\": 2}, 4.0]", "mixed", 8},
  };
  fx_result r = {0};
  const char *cu = fx_write("v.cu", source);
  sct_str text = {0};
  for (int k = 0; k < SCT_COUNT(good); k++) {
    add_case(&text, k, good[k].settings, good[k].kernel);
  }
  sct_str_append(&text, "]}");
  fx_run(&r, "count", cu, "--csv", "--cases", fx_write("v.json", sct_str_c(&text)));
  fx_expect(&r, 0, NULL, NULL);
  for (int k = 0; k < SCT_COUNT(good); k++) {
    char name[16];
    snprintf(name, sizeof name, "c%d", k);
    const long long got = fx_figure(sct_str_c(&r.out), name, "sectors_st");
    if (got != good[k].sectors) {
      fail_msg("%s: %lld sectors, expected %d", good[k].settings, got, good[k].sectors);
    }
  }
  sct_str_free(&text);
  fx_free(&r);
}

static void what_is_set_stays(void **state) {
  (void)state;
  fx_result r = {0};
  const char *cu = fx_write("v.cu", source);
  fx_run(
      &r, "count", cu, "--csv", "--cases",
      fx_write("v.json",
               "{\"variables\": {\"step\": 2, \"bumped\": 8}, \"buffers\": {\"out\": {\"bytes\": "
               "4096}}, \"cases\": [\n"
               "{\"case\": \"one\", \"kernel\": \"probe\", " ONE ", \"args\": [\"out\"]},\n"
               "{\"case\": \"two\", \"kernel\": \"probe\", " ONE ", \"args\": [\"i32[48]\"],\n"
               " \"variables\": {\"step\": 1}},\n"
               "{\"case\": \"three\", \"kernel\": \"probe\", " ONE ", \"args\": [\"i32[48]\"]}]}"));
  fx_expect(&r, 0, NULL, NULL);
  assert_int_equal(fx_figure(sct_str_c(&r.out), "one", "sectors_st"), 8);
  assert_int_equal(fx_figure(sct_str_c(&r.out), "two", "sectors_st"), 4);
  assert_int_equal(fx_figure(sct_str_c(&r.out), "three", "sectors_st"), 4);
  fx_free(&r);
}

static void settings_that_are_wrong_say_what_is_expected(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"\"far::stepp\": 1", "did you mean 'far::step'?"},
      {"\"weights\": {\"f32\": [1, 2, 3, 4, 5]}",
       "variable 'weights': 20 bytes were given, it has 16"},
      {"\"weights\": {\"type\": \"f32\", \"fill\": \"prm\"}", "did you mean 'perm'?"},
      {"\"weights\": {\"fll\": \"perm\"}",
       "variable 'weights': expected a value, {TYPE: [numbers]}"},
      {"\"weights\": {\"bytes\": 0}", "'bytes': expected a whole number from 1"},
      {"\"weights\": {\"type\": \"f64\", \"bytes\": 12}", "no whole number of elements"},
      {"\"step\": 1.5", "variable 'step': a number with a point, expected a whole one of 4 bytes"},
      {"\"step\": \"uot\"", "variable 'step': unknown buffer 'uot'; did you mean 'out'?"},
      {"\"step\": true", "variable 'step': u8 has 1 bytes, expected 4"},
      {"\"table\": {\"i32\": 3}", "variable 'table': i32 has 4 bytes, expected 8"},
  };
  fx_result r = {0};
  const char *cu = fx_write("v.cu", source);
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    sct_str text = {0};
    add_case(&text, 0, bad[k][0], "probe");
    add_case(&text, 1, "", "weigh");
    add_case(&text, 2, "", "follow");
    sct_str_append(&text, "]}");
    fx_run(&r, "count", cu, "--cases", fx_write("v.json", sct_str_c(&text)));
    sct_str_free(&text);
    fx_expect(&r, 3, NULL, bad[k][1]);
    fx_expect(&r, 3, NULL, "v.json:1: error: case 'c0': ");
  }
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches_leave_variables_to_each_other),
      cmocka_unit_test(a_manifest_sets_variables),
      cmocka_unit_test(what_is_set_stays),
      cmocka_unit_test(settings_that_are_wrong_say_what_is_expected),
  };
  return fx_lacks_nvrtc() ? 77 : cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
