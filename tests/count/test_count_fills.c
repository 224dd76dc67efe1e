/* What manifests say that buffers hold: shuffled, random, values, files; options of the compiler;
 * grids that are numbers; and what is wrong with any of these. */
#include "count/count_internal.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

static char folder[64];
static sct_count_manifest manifest;
static sct_error err;

static int setup(void **state) {
  (void)state;
  return scratch_make(folder, sizeof folder, "fills");
}

static int teardown(void **state) {
  (void)state;
  return scratch_remove(folder);
}

static void write_file(const char *name, const void *data, size_t n) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(sct_file_write(path, data, n, NULL), SCT_OK);
}

/* A manifest with these buffers and arguments. */
static sct_status read_manifest(const char *buffers, const char *args) {
  char path[128];
  sct_str text = {0};
  sct_str_printf(&text,
                 "{\"options\": [\"-DN=3\"], \"buffers\": {%s},\n\"cases\": [{\"kernel\": \"k\", "
                 "\"grid\": 7, \"block\": [32, 2], \"args\": [%s]}]}",
                 buffers, args);
  write_file("m.json", text.data, text.len);
  sct_str_free(&text);
  snprintf(path, sizeof path, "%s/m.json", folder);
  err = (sct_error){0};
  return sct_count_read(&manifest, path, &err);
}

/* What the last buffer of the manifest holds; to be freed. */
static void *contents(const char *buffers, const char *args) {
  if (read_manifest(buffers, args) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return count_contents(&manifest.buffers[manifest.n_buffers - 1]);
}

static void done(void *data) {
  sct_free(data);
  sct_count_manifest_free(&manifest);
}

static void test_shuffled(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 3, 1000};
  for (int s = 0; s < SCT_COUNT(sizes); s++) {
    char arg[64];
    bool seen[1000] = {0};
    int still = 0;
    snprintf(arg, sizeof arg, "\"i64[%d]:shuffle\"", sizes[s]);
    int64_t *v = contents("", arg);
    for (int i = 0; i < sizes[s]; i++) {
      assert_true(v[i] >= 0 && v[i] < sizes[s] && !seen[v[i]]);
      seen[v[i]] = true;
      still += v[i] == i;
    }
    assert_true(sizes[s] < 1000 || still < 20);
    done(v);
  }
}

static void test_random(void **state) {
  (void)state;
  double sum = 0.0;
  int counts[10] = {0};
  int32_t *below = contents("", "\"i32[1000]:random=10\"");
  for (int i = 0; i < 1000; i++) {
    assert_in_range(below[i], 0, 9);
    counts[below[i]]++;
  }
  for (int k = 0; k < 10; k++) {
    assert_in_range(counts[k], 60, 140);
  }
  done(below);
  float *unit = contents("", "\"f32[1000]:random\"");
  for (int i = 0; i < 1000; i++) {
    assert_true(unit[i] >= 0.0F && unit[i] <= 1.0F);
    sum += (double)unit[i];
  }
  assert_true(fabs(sum / 1000.0 - 0.5) < 0.05);
  done(unit);
  double *wide =
      contents("\"x\": {\"bytes\": 8000, \"type\": \"f64\", \"fill\": \"random=8\"}", "");
  sum = 0.0;
  for (int i = 0; i < 1000; i++) {
    assert_true(wide[i] >= 0.0 && wide[i] < 8.0);
    sum += wide[i];
  }
  assert_true(fabs(sum / 1000.0 - 4.0) < 0.4);
  done(wide);
  uint32_t *bits = contents("\"x\": {\"bytes\": 4000, \"fill\": \"random\"}", "");
  assert_true(bits[0] != bits[1] && (bits[0] | bits[1] | bits[2] | bits[3]) > 1 << 30);
  done(bits);
}

/* A list ends the arena's buffer of its own; in a buffer it repeats. */
static void test_values(void **state) {
  (void)state;
  static const int32_t own[] = {3, -1, 2}, repeated[] = {3, 1, 3, 1, 3};
  static const double reals[] = {1.5, 2};
  static const float mixed[] = {0.5F, 0.25F};
  int32_t *v = contents("", "{\"i32\": [3, -1, 2]}");
  assert_int_equal(manifest.buffers[manifest.n_buffers - 1].bytes, 12);
  assert_memory_equal(v, own, sizeof own);
  done(v);
  v = contents("", "\"i32[5]:values=3,1\"");
  assert_memory_equal(v, repeated, sizeof repeated);
  done(v);
  double *d = contents("\"x\": {\"type\": \"f64\", \"fill\": [1.5, 2]}", "");
  assert_int_equal(manifest.buffers[manifest.n_buffers - 1].bytes, 16);
  assert_memory_equal(d, reals, sizeof reals);
  done(d);
  float *f = contents("\"x\": {\"fill\": \"values=0.5,0.25\"}", "");
  assert_memory_equal(f, mixed, sizeof mixed);
  done(f);
  uint8_t *u = contents("\"x\": {\"bytes\": 5, \"type\": \"u8\", \"fill\": [255, 0]}", "");
  assert_memory_equal(u, "\377\0\377\0\377", 5);
  done(u);
}

static void test_files(void **state) {
  (void)state;
  write_file("x.bin", "0123456789", 10);
  char *v = contents("\"x\": {\"bytes\": 4, \"fill\": \"file=x.bin\"}", "");
  assert_memory_equal(v, "0123", 4);
  done(v);
  v = contents("\"x\": {\"fill\": \"file=x.bin\"}", "");
  assert_int_equal(manifest.buffers[manifest.n_buffers - 1].bytes, 10);
  assert_memory_equal(v, "0123456789", 10);
  done(v);
  v = contents("", "\"u16[5]:file=x.bin\"");
  assert_memory_equal(v, "0123456789", 10);
  done(v);
}

static void test_options_and_numbers(void **state) {
  (void)state;
  assert_int_equal(read_manifest("", ""), SCT_OK);
  assert_int_equal(manifest.n_options, 1);
  assert_string_equal(manifest.options[0], "-DN=3");
  assert_int_equal(manifest.cases[0].grid[0], 7);
  assert_int_equal(manifest.cases[0].grid[1], 1);
  assert_int_equal(manifest.cases[0].block[1], 2);
  sct_count_manifest_free(&manifest);
}

static void test_what_is_wrong(void **state) {
  (void)state;
  static const struct {
    const char *buffers, *args, *says;
  } bad[] = {
      {"", "\"i32[9]:random=0\"", "random=0: expected a whole number from 1 to 4294967296"},
      {"", "\"i32[9]:random=-1\"", "random=-1: expected"},
      {"", "\"i32[9]:random=9x\"", "random=9x: expected"},
      {"", "\"i32[9]:random=99999999999999999999\"", "expected a whole number from 1"},
      {"", "\"i32[9]:zero=3\"", "fill 'zero' takes no '=3'"},
      {"", "\"i32[9]:shufle\"", "unknown fill 'shufle'; did you mean 'shuffle'?"},
      {"", "\"i32[9]:values\"", "fill 'values' needs its numbers, as in values=3,1,2"},
      {"", "\"i32[9]:values=\"", "values: expected at least one number"},
      {"", "\"i32[9]:values=1,\"", "values: expected numbers with commas between, not '1,'"},
      {"", "\"i32[9]:values=1.5\"", "values: expected whole numbers"},
      {"", "\"u8[9]:values=256\"", "256 does not fit 1 bytes"},
      {"", "\"f32[9]:values=[1]\"", "values: expected numbers"},
      {"", "{\"i32\": []}", "values: expected at least one number"},
      {"", "{\"i32\": [1, \"2\"]}", "values: expected whole numbers"},
      {"", "{\"texture\": \"in\"}", "argument 1: textures are not launched here"},
      {"", "\"i32[9]:file\"", "fill 'file' needs its name, as in file=index.bin"},
      {"", "\"i32[9]:file=none.bin\"", "none.bin': No such file or directory"},
      {"", "\"i32[9]:file=x.bin\"", "has 10 bytes, the buffer 36"},
      {"\"x\": {\"fill\": \"file=empty.bin\"}", "", "has 0 bytes, the buffer 1"},
      {"\"x\": {\"fill\": \"zero\"}", "", "'x': 'bytes': expected a whole number from 1"},
      {"\"x\": {\"bytes\": \"4\", \"fill\": [1]}", "", "'x': 'bytes': expected a whole number"},
      {"\"x\": {\"bytes\": 10, \"type\": \"f64\"}", "", "expected a multiple of the 8 of f64"},
      {"\"x\": {\"bytes\": 8, \"type\": \"f46\"}", "", "unknown type 'f46'; did you mean 'f16'?"},
      {"\"x\": {\"bytes\": 8, \"type\": 3}", "", "'type': expected the name of a type, not a numb"},
      {"\"x\": {\"bytes\": 8, \"fill\": {}}", "", "'fill': expected the name of a fill, or a list"},
      {"}, \"options\": {", "", "duplicate object key"},
  };
  write_file("x.bin", "0123456789", 10);
  write_file("empty.bin", "", 0);
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    assert_int_equal(read_manifest(bad[k].buffers, bad[k].args), SCT_ESPEC);
    if (!strstr(err.text, bad[k].says) || !strstr(err.text, "/m.json")) {
      fail_msg("%d: '%s' instead of '%s'", k, err.text, bad[k].says);
    }
  }
}

static void test_wrong_options(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {{"{\"options\": 3, \"cases\": []}", "'options': expected a list of options"},
             {"{\"options\": [3], \"cases\": []}", "'options': expected options of the compiler"},
             {"{\"options\": [\"N=3\"], \"cases\": []}", "as in \"-DN=3\""},
             {"[{\"kernel\": \"k\", \"grid\": 0, \"block\": 1, \"args\": []}]",
              "'grid': expected a number above 0, or a list of one to three"},
             {"[{\"kernel\": \"k\", \"grid\": 1.5, \"block\": 1, \"args\": []}]", "'grid': expect"},
             {"[{\"kernel\": \"k\", \"grid\": -1, \"block\": 1, \"args\": []}]", "'grid': expect"}};
  char path[128];
  snprintf(path, sizeof path, "%s/o.json", folder);
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    write_file("o.json", bad[k].text, strlen(bad[k].text));
    assert_int_equal(sct_count_read(&manifest, path, &err), SCT_ESPEC);
    if (!strstr(err.text, bad[k].says)) {
      fail_msg("%d: '%s' instead of '%s'", k, err.text, bad[k].says);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shuffled),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_options_and_numbers),
      cmocka_unit_test(test_what_is_wrong),
      cmocka_unit_test(test_wrong_options),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
