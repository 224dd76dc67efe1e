/* What the fuzzer kept, replayed: every text of the corpus is refused with a message or runs to a
 * result. Under the sanitizers this is where an old finding would show again. */
#include "ptx_fuzz.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add(fuzz_outcome *sum, const fuzz_outcome *one) {
  sum->parsed |= one->parsed;
  sum->kernels += one->kernels;
  sum->refused += one->refused;
  sum->launched += one->launched;
  sum->clean += one->clean;
}

static void every_text_ends_well(void **state) {
  (void)state;
  static const char dir[] = SCT_TESTS_DIR "/ptx/corpus";
  fuzz_outcome sum = {0};
  int n = 0, n_parsed = 0;
  DIR *d = opendir(dir);
  assert_non_null(d);
  for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
    sct_str path = {0}, text = {0};
    if (e->d_name[0] == '.') {
      continue;
    }
    sct_str_printf(&path, "%s/%s", dir, e->d_name);
    assert_int_equal(sct_file_read(&text, sct_str_c(&path), NULL), SCT_OK);
    const fuzz_outcome one = fuzz_input((const uint8_t *)sct_str_c(&text), text.len);
    add(&sum, &one);
    n_parsed += one.parsed;
    n++;
    sct_str_free(&text);
    sct_str_free(&path);
  }
  closedir(d);
  print_message("%d texts, %d are PTX; %d kernels, %d refused, %d ran, %d of them clean\n", n,
                n_parsed, sum.kernels, sum.refused, sum.launched, sum.clean);
  /* The corpus is there, and it reaches all of: refused text, refused kernels, runs, faults. */
  assert_true(n > 100 && n_parsed > 50 && n_parsed < n);
  assert_true(sum.refused > 10 && sum.clean > 5 && sum.launched - sum.clean > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_text_ends_well)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
