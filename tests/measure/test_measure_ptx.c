/* The worker's own PTX: accepted by the assembler for old and new GPUs, without spills, and with
 * every entry point the worker loads. What the kernels compute is checked on a GPU
 * (test_measure_gpu). */
#include "measure_fixture.h"

#include "measure_gpu_kernels.h"
#include "worker/worker_backend.h"

#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/sct_ptx_XXXXXX";
static char ptxas[256];

static bool runs(const char *program) {
  char command[512];
  snprintf(command, sizeof command, "%s --version > /dev/null 2>&1", program);
  return system(command) == 0;
}

static bool find_ptxas(void) {
  static const char *const places[] = {"ptxas", "/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};
  for (int k = 0; k < SCT_COUNT(places); k++) {
    if (runs(places[k])) {
      snprintf(ptxas, sizeof ptxas, "%s", places[k]);
      return true;
    }
  }
  return false;
}

static void assemble(const char *arch, sct_str *log) {
  char command[1024], path[300];
  snprintf(command, sizeof command, "%s -arch=%s -v %s/k.ptx -o %s/k.cubin > %s/log 2>&1", ptxas,
           arch, folder, folder, folder);
  const int status = system(command);
  snprintf(path, sizeof path, "%s/log", folder);
  assert_ok(sct_file_read(log, path, &fixture_err));
  if (status != 0) {
    print_error("%s", sct_str_c(log));
  }
  assert_int_equal(status, 0);
}

static void write_ptx(const sct_str *ptx) {
  char path[300];
  snprintf(path, sizeof path, "%s/k.ptx", folder);
  assert_ok(sct_file_write(path, ptx->data, ptx->len, &fixture_err));
}

static void check_assembly(void (*text)(sct_str *), const char *const *archs, int n_archs,
                           const char *const *entries, int n_entries) {
  sct_str ptx = {0}, log = {0};
  text(&ptx);
  write_ptx(&ptx);
  for (int a = 0; a < n_archs; a++) {
    assemble(archs[a], &log);
    for (int k = 0; k < n_entries; k++) {
      char line[128];
      snprintf(line, sizeof line, "Compiling entry function '%s'", entries[k]);
      assert_non_null(strstr(sct_str_c(&log), line));
    }
    assert_null(strstr(sct_str_c(&log), "warning"));
    for (const char *at = sct_str_c(&log); (at = strstr(at, "bytes spill")) != NULL; at++) {
      assert_memory_equal(at - 2, "0 ", 2);
    }
  }
  sct_str_free(&ptx);
  sct_str_free(&log);
}

static void test_ptxas_accepts_it(void **state) {
  (void)state;
  static const char *const archs[] = {"sm_75", "sm_80", "sm_90", "sm_100"};
  static const char *const entries[] = {"sct_fill",   "sct_checksum", "sct_compare", "sct_spread",
                                        "sct_settle", "sct_index",    "sct_copy16"};
  static const char *const kept[] = {"sct_copy16_evict_loads", "sct_copy16_evict_stores"};
  check_assembly(sct_worker_ptx, archs, SCT_COUNT(archs), entries, SCT_COUNT(entries));
  check_assembly(sct_worker_ptx_kept, archs + 1, SCT_COUNT(archs) - 1, kept, SCT_COUNT(kept));
}

/* So that the test that needs a GPU cannot fail for a spelling mistake. */
static void test_ptxas_accepts_the_gpu_tests_kernels(void **state) {
  (void)state;
  sct_str ptx = {0}, log = {0};
  for (int k = 0; k < SCT_COUNT(gpu_kernels); k++) {
    sct_str_append(&ptx, gpu_kernels[k]);
  }
  write_ptx(&ptx);
  assemble("sm_90", &log);
  assert_non_null(strstr(sct_str_c(&log), "'record_whole'"));
  sct_str_free(&ptx);
  sct_str_free(&log);
}

int main(void) {
  if (!find_ptxas()) {
    printf("skipped: no ptxas on this machine\n");
    return 77;
  }
  if (!mkdtemp(folder)) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ptxas_accepts_it),
                                     cmocka_unit_test(test_ptxas_accepts_the_gpu_tests_kernels)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) == 0 ? failed : 1;
}
