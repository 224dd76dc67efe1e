/* Random kernels on the virtual device and in plain C (random_kernel.h): bit for bit the same. What
 * a GPU says of the same kernels: test_ptx_random_gpu. */
#include "random_run.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define N_KERNELS 500
#if SCT_SANITIZED
#define STRIDE 5 /* of kernels that are run: everything takes several times as long */
#else
#define STRIDE 1
#endif

/* The shortest beginning of the program that still differs: its last statement is to blame. */
static void blame(random_program *p, uint64_t seed, const uint8_t *in, sct_str *message) {
  static uint8_t got[RANDOM_OUT_BYTES], want[RANDOM_OUT_BYTES];
  random_program_make(p, seed, -1);
  const int whole = random_program_length(p);
  for (int n = 1; n <= whole; n++) {
    sct_str text = {0};
    random_program_make(p, seed, n);
    random_emit(p, &text);
    const bool ran = random_run_virtual(sct_str_c(&text), in, got, message);
    random_eval(p, in, want);
    const int at = ran ? random_differs(got, want) : -1;
    if (at >= 0) {
      random_describe(message, got, want, at);
    }
    if (!ran || at >= 0) {
      print_error("seed %llu, after %d statements: %s\n", (unsigned long long)seed, n,
                  sct_str_c(message));
      sct_str_free(&text);
      text = (sct_str){0};
      random_emit_last(p, &text);
      print_error("%s\n", sct_str_c(&text));
      sct_str_free(&text);
      return;
    }
    sct_str_free(&text);
  }
}

static void virtual_and_plain_c_agree(void **state) {
  (void)state;
  static uint8_t in[RANDOM_IN_BYTES], got[RANDOM_OUT_BYTES], want[RANDOM_OUT_BYTES];
  static random_program p;
  static random_coverage cover;
  int failed = 0;
  for (uint64_t seed = 1; seed <= N_KERNELS && failed < 5; seed++) {
    sct_str text = {0}, message = {0};
    random_program_make(&p, seed, -1);
    random_cover(&cover, &p);
    if (seed % STRIDE != 0) {
      continue;
    }
    random_input(in, seed);
    random_emit(&p, &text);
    const bool ran = random_run_virtual(sct_str_c(&text), in, got, &message);
    random_eval(&p, in, want);
    if (!ran || random_differs(got, want) >= 0) {
      sct_str_free(&message);
      message = (sct_str){0};
      blame(&p, seed, in, &message);
      failed++;
    }
    sct_str_free(&text);
    sct_str_free(&message);
  }
  assert_int_equal(failed, 0);
  for (int k = 0; k < SCT_COUNT(random_ops); k++) { /* nothing is left out */
    if (cover.ops[k] == 0) {
      fail_msg("no kernel has '%s'", random_ops[k].text);
    }
  }
  for (int k = 0; k < RANDOM_N_KINDS; k++) {
    assert_true(cover.kinds[k] > 50);
  }
  for (int k = 0; k < SCT_COUNT(random_accesses); k++) {
    assert_true(cover.accesses[k] > 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(virtual_and_plain_c_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
