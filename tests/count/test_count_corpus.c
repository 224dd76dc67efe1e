/* What the fuzzer kept of manifests, replayed: each is read or refused with a message. */
#include "count_fuzz.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void every_manifest_is_read_or_refused(void **state) {
  (void)state;
  static const char dir[] = SCT_TESTS_DIR "/count/corpus";
  int n = 0, n_read = 0, n_cases = 0;
  DIR *d = opendir(dir);
  assert_non_null(d);
  sct_log_set_level(SCT_LOG_ERROR); /* no warnings of unknown keys */
  for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
    sct_str path = {0}, text = {0};
    if (e->d_name[0] == '.') {
      continue;
    }
    sct_str_printf(&path, "%s/%s", dir, e->d_name);
    assert_int_equal(sct_file_read(&text, sct_str_c(&path), NULL), SCT_OK);
    const int cases = count_fuzz_input((const uint8_t *)sct_str_c(&text), text.len);
    n++;
    n_read += cases >= 0;
    n_cases += cases > 0 ? cases : 0;
    sct_str_free(&text);
    sct_str_free(&path);
  }
  closedir(d);
  print_message("%d texts, %d manifests with %d cases\n", n, n_read, n_cases);
  assert_true(n > 50 && n_read > 8 && n - n_read > 30 && n_cases > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_manifest_is_read_or_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
