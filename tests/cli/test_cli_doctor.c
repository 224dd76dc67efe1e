/* The command `doctor`: with and without a GPU (a fake one), a toolkit, a store, room and rights.
 */
#include "device/device.h"

#include "cli_fixture.h"

#include <sys/resource.h>
#include <sys/stat.h>

static int set_up(void **state) {
  return fx_setup(state) != 0 || setenv("XDG_RUNTIME_DIR", fx_folder, 1) != 0 ||
         setenv("CUDA_MPS_PIPE_DIRECTORY", fx_folder, 1) != 0;
}

static int no_fake(void **state) {
  (void)state;
  return unsetenv("SECTILE_FAKE_GPU");
}

/* "LEVEL" of the line NAME whose text or hint holds `says`; "" if there is none. */
static const char *level_of(const fx_result *r, const char *name, const char *says) {
  static char level[8];
  json_t *doc = fx_json(r);
  const json_t *check;
  size_t k;
  level[0] = '\0';
  json_array_foreach(json_object_get(doc, "checks"), k, check) {
    const char *text = json_string_value(json_object_get(check, "text"));
    const char *hint = json_string_value(json_object_get(check, "hint"));
    if (strcmp(json_string_value(json_object_get(check, "name")), name) == 0 &&
        (strstr(text, says) || (hint && strstr(hint, says)))) {
      snprintf(level, sizeof level, "%s", json_string_value(json_object_get(check, "level")));
    }
  }
  assert_int_equal(json_integer_value(json_object_get(doc, "exit_code")), r->exit_code);
  json_decref(doc);
  return level;
}

#define assert_level(r, level, name, says)                                                         \
  do {                                                                                             \
    if (strcmp(level_of((r), (name), (says)), (level)) != 0) {                                     \
      fx_show(r);                                                                                  \
      fail_msg("line '%s' with '%s' is '%s', not '%s'", (name), (says),                            \
               level_of((r), (name), (says)), (level));                                            \
    }                                                                                              \
  } while (0)

static void a_machine_without_a_gpu_is_usable(void **state) {
  (void)state;
  fx_result r = {0};
  assert_int_equal(setenv("SECTILE_FAKE_GPU", "none", 1), 0);
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 0, NULL, NULL);
  assert_level(&r, "warn", "driver", "the fake driver was not found");
  assert_level(&r, "ok", "NVRTC", "sm_90");
  assert_level(&r, "ok", "MPS", "no Multi-Process Service");
  assert_level(&r, "ok", "store", "will be made");
  assert_level(&r, "ok", "locks", "sectile");
  assert_level(&r, "ok", "self-test", "run on virtual:h200 and verified");
  assert_int_equal(r.err.len, 0);
  fx_run(&r, "doctor"); /* as text for people */
  fx_expect(&r, 0, "ok    self-test     a kernel was compiled, run on virtual:h200", NULL);
  fx_expect(&r, 0, "warn  driver        ", NULL);
  fx_run(&r, "doctor", "-d", "cuda:0", "--json"); /* asked for, it is missed */
  fx_expect(&r, 4, NULL, NULL);
  assert_level(&r, "fail", "driver", "the fake driver was not found");
  assert_level(&r, "warn", "self-test", "left out: there is no device");
  fx_run(&r, "doctor", "-d", "virtual:nothing", "--json");
  assert_true(r.exit_code != 0);
  assert_level(&r, "fail", "device", "nothing");
  fx_run(&r, "doctor", "-d", "toaster");
  fx_expect(&r, 4, "of a device 'toaster'", NULL);
  fx_free(&r);
}

static void a_gpu_and_its_other_users_are_shown(void **state) {
  (void)state;
  fx_result r = {0};
  int fd;
  assert_int_equal(setenv("SECTILE_FAKE_GPU", "others=2 throttle=4 lock=3", 1), 0);
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 0, NULL, NULL);
  assert_level(&r, "ok", "driver", "1 GPU, driver fake");
  assert_level(&r, "ok", "cuda:0", "Fake GPU, CC 9.0, 132 SMs");
  assert_level(&r, "ok", "lock", "cuda:0 is free");
  assert_level(&r, "ok", "mode", "compute mode default");
  assert_level(&r, "warn", "processes", "2 others: 4000 (else), 4001 (else)");
  assert_level(&r, "ok", "clocks", "held back by: power_cap");
  assert_level(&r, "ok", "self-test", "run on cuda:0 and verified");
  assert_int_equal(sct_lock_take(&fd, "fake-3-0", NULL), SCT_OK);
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 0, NULL, NULL); /* it can be waited for */
  assert_level(&r, "warn", "lock", "cuda:0 is being timed by process ");
  assert_level(&r, "warn", "self-test", "the GPU is in use");
  sct_lock_release(&fd);
  assert_int_equal(setenv("SECTILE_FAKE_GPU", "mode=3 mig throttle=64", 1), 0);
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 0, NULL, NULL);
  assert_level(&r, "ok", "mode", "exclusive_process, cut into slices (MIG)");
  assert_level(&r, "warn", "clocks", "samples will be repeated");
  assert_int_equal(setenv("SECTILE_FAKE_GPU", "mps=1", 1), 0);
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 0, NULL, NULL);
  assert_level(&r, "warn", "MPS", "--force");
  assert_int_equal(setenv("SECTILE_FAKE_GPU", "mode=2", 1), 0);
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 4, NULL, NULL);
  assert_level(&r, "fail", "mode", "nothing may compute");
  assert_int_equal(setenv("SECTILE_FAKE_GPU", "wrong", 1), 0); /* a GPU that computes wrong */
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 5, NULL, NULL);
  assert_level(&r, "fail", "self-test", "a plain copy is not verified");
  assert_int_equal(setenv("SECTILE_FAKE_GPU", "refuse214", 1), 0); /* and one that is failing */
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 6, NULL, NULL);
  assert_level(&r, "fail", "self-test", "CUDA_ERROR_ECC_UNCORRECTABLE");
  fx_free(&r);
}

static void a_missing_toolkit_is_said(void **state) {
  (void)state;
  fx_result r = {0};
  assert_int_equal(setenv("SECTILE_NVRTC", "/nonexistent/libnvrtc.so", 1), 0);
  fx_run(&r, "doctor", "--json");
  assert_int_equal(unsetenv("SECTILE_NVRTC"), 0);
  fx_expect(&r, 4, NULL, NULL);
  assert_level(&r, "fail", "NVRTC", "/nonexistent/libnvrtc.so");
  assert_level(&r, "warn", "self-test", "there is no NVRTC");
  fx_free(&r);
}

static void files_are_looked_at(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("damaged.db", "this is no database, but long enough to be one?");
  fx_run(&r, "doctor", "--json", "--store", "damaged.db");
  fx_expect(&r, 8, NULL, NULL);
  assert_level(&r, "fail", "store", "move it away");
  fx_run(&r, "doctor", "--json", "--store", "/proc/nothing/here/store.db");
  if (geteuid() != 0) { /* root may write anywhere */
    fx_expect(&r, 1, NULL, NULL);
    assert_level(&r, "fail", "store", "cannot be written");
  }
  chmod(fx_path("sectile"), 0777);
  fx_run(&r, "doctor", "--json");
  fx_expect(&r, 1, NULL, NULL);
  assert_level(&r, "fail", "locks", "is open to others (mode 0777)");
  chmod(fx_path("sectile"), 0700);
  fx_use_cache(false);
  (void)mkdir(fx_path("cache"), 0700);
  (void)mkdir(fx_path("cache/sectile"), 0700);
  chmod(fx_path("cache/sectile"), 0755);
  fx_run(&r, "doctor", "--json");
  assert_level(&r, "warn", "cache", "is open to others (mode 0755)");
  chmod(fx_path("cache/sectile"), 0700);
  fx_run(&r, "doctor", "--json");
  assert_level(&r, "ok", "cache", "yours alone");
  const char *before_home = getenv("XDG_CACHE_HOME");
  char *kept_home = before_home ? sct_strdup(before_home) : NULL;
  setenv("XDG_CACHE_HOME", fx_path("damaged.db"), 1); /* a file */
  fx_run(&r, "doctor", "--json");
  assert_level(&r, "warn", "cache", "set XDG_CACHE_HOME");
  setenv("XDG_CACHE_HOME", "/proc", 1); /* where nobody makes a directory, root neither */
  fx_run(&r, "doctor", "--json");
  assert_level(&r, "warn", "cache", "set XDG_CACHE_HOME");
  if (kept_home) {
    setenv("XDG_CACHE_HOME", kept_home, 1);
  } else {
    unsetenv("XDG_CACHE_HOME");
  }
  sct_free(kept_home);
  fx_use_cache(true);
  const struct rlimit few = {64, 64};
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    setrlimit(RLIMIT_NOFILE, &few);
    const pid_t child = fx_start((const char *const[]){"doctor", "--json", NULL});
    _exit(fx_wait_(child));
  }
  fx_free(&r);
  fx_finish(&r, pid);
  assert_level(&r, "warn", "limits", "open files is 64");
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_machine_without_a_gpu_is_usable, no_fake),
      cmocka_unit_test_teardown(a_gpu_and_its_other_users_are_shown, no_fake),
      cmocka_unit_test(a_missing_toolkit_is_said),
      cmocka_unit_test(files_are_looked_at),
  };
  return cmocka_run_group_tests(tests, set_up, fx_teardown);
}
