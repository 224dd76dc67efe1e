/* The canonical text of every worked spec, letter for letter: where each byte lies, and the hash
 * that stored results hang on. A change here orphans what users have measured.
 *
 * SECTILE_UPDATE_GOLDEN=1 writes the files anew. */
#include "script_test.h"

#define FOLDER SCT_TESTS_DIR "/script/golden/"

static int n_checked;

static void check_spec(void *ctx, const char *asset) {
  (void)ctx;
  if (sct_script_load_spec(&spec, asset, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  char path[1024];
  snprintf(path, sizeof path, FOLDER "%s.txt", spec.name);
  if (getenv("SECTILE_UPDATE_GOLDEN")) {
    assert_int_equal(sct_file_write(path, spec.canonical, strlen(spec.canonical), &err), SCT_OK);
  }
  sct_str golden = {0};
  if (sct_file_read(&golden, path, &err) != SCT_OK) {
    fail_msg("%s (SECTILE_UPDATE_GOLDEN=1 writes it)", err.text);
  }
  assert_string_equal(spec.canonical, sct_str_c(&golden));
  sct_str_free(&golden);
  sct_spec_free(&spec);
  n_checked++;
}

static void test_worked_specs(void **state) {
  (void)state;
  sct_asset_list("tuning/kernels/", check_spec, NULL);
  assert_true(n_checked >= 15);
}

/* Another path, another order of options: the same hash. */
static void test_hash_of_a_copy(void **state) {
  (void)state;
  assert_int_equal(sct_script_load_spec(&spec, "tuning/kernels/shifted.lua", &err), SCT_OK);
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  load_ok("local s = require \"sectile\"\n"
          "local options = { pad = 1, at = \"1 + i\" }\n"
          "return s.kernel { body = \"b=a;\", sizes = { { i = 67108864 } }, dims = { \"i\" },\n"
          "  outputs = { s.array(\"b\", \"f32\") }, name = \"shifted\",\n"
          "  inputs = { s.array(\"a\", \"f32\", s.row_major, options) } }");
  assert_true(sct_hash_equal(hash, spec.hash));
  sct_spec_free(&spec);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_worked_specs),
      cmocka_unit_test(test_hash_of_a_copy),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
