/* Who began to compute on a GPU since it was asked first, by what NVML lists. */
#include "device/device_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

/* What NVML answers: `n` processes from number `first` on, this one before them. */
static struct {
  int result;
  unsigned first, n, mps;
} listed;

static int list(unsigned n_found, unsigned first, bool with_own, unsigned *n,
                sct_nvml_process *out) {
  const unsigned found = n_found + with_own;
  const bool fits = found <= *n;
  for (unsigned k = 0; k < found && fits; k++) {
    const bool own = with_own && k == 0;
    out[k] = (sct_nvml_process){.pid = own ? (unsigned)getpid() : first + k - with_own,
                                .bytes = own ? ~0ULL : 1000};
  }
  *n = found;
  return fits ? listed.result : 7;
}

static int compute(void *device, unsigned *n, sct_nvml_process *out) {
  (void)device;
  return list(listed.n, listed.first, true, n, out);
}

static int mps(void *device, unsigned *n, sct_nvml_process *out) {
  (void)device;
  return list(listed.mps, 800000000, false, n, out);
}

static int handle;
static const sct_nvml nvml = {
    .device = &handle, .compute_processes = compute, .mps_processes = mps};

static int reset(void **state) {
  (void)state;
  memset(&listed, 0, sizeof listed);
  listed.first = 900000000;
  return 0;
}

static void who_was_there_first_is_no_newcomer(void **state) {
  (void)state;
  sct_nvml_known known = {0};
  sct_gpu_process first = {0};
  listed.n = 2;
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 0);
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 0);
  listed.n = 4;
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 2);
  assert_int_equal(first.pid, 900000002);
  assert_int_equal(first.bytes, 1000);
  listed.n = 1; /* one that was there has ended */
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 0);
  listed.mps = 1;
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 1);
  assert_int_equal(first.pid, 800000000);
}

/* In a container this process has another number on the machine: one of those of the first answer.
 */
static void a_number_that_is_not_ours_may_be_ours(void **state) {
  (void)state;
  sct_nvml_known known = {0};
  sct_gpu_process first = {0};
  listed.n = 1;
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 0);
  listed.first++; /* that one has ended, another came */
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 1);
}

static void what_is_not_known_is_nobody(void **state) {
  (void)state;
  sct_nvml_known known = {0};
  sct_gpu_process first = {0};
  const sct_nvml none = {0};
  assert_int_equal(sct_nvml_newcomers(&none, &known, &first), 0);
  listed.n = 3;
  listed.result = 3; /* it cannot say yet: the next answer is the first */
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 0);
  listed.result = 0;
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 0);
  listed.n = 1000; /* more than are asked for */
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 0);
  listed.n = 4;
  assert_int_equal(sct_nvml_newcomers(&nvml, &known, &first), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(who_was_there_first_is_no_newcomer, reset),
      cmocka_unit_test_setup(a_number_that_is_not_ours_may_be_ours, reset),
      cmocka_unit_test_setup(what_is_not_known_is_nobody, reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
