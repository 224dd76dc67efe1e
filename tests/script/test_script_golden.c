/* The canonical text of every worked spec, letter for letter: where each byte lies, and the hash
 * that stored results hang on. A change here orphans what users have measured.
 *
 * SECTILE_UPDATE_GOLDEN=1 writes the files anew. */
#include "script_test.h"
#include "worked.h"

#define FOLDER SCT_TESTS_DIR "/script/golden/"

static void check_spec(const char *name) {
  if (worked_load(&spec, name, &err) != SCT_OK) {
    fail_msg("%s: %s", name, err.text);
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
}

static void test_worked_specs(void **state) {
  (void)state;
  for (int k = 0; k < worked_count(); k++) {
    check_spec(worked_kernels[k].name);
  }
  assert_true(worked_count() >= 69);
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
