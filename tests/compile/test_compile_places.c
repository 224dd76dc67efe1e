/* Where NVRTC is looked for beyond the loader's path: by environment, and by the python3 in PATH.
 */
#include "compile/compile_internal.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

static char folder[64];
static const char *const variables[] = {"CUDA_HOME",    "CUDA_PATH", "VIRTUAL_ENV",
                                        "CONDA_PREFIX", "PATH",      "HOME"};

/* Makes the folder FOLDER/name. */
static void make(const char *name) {
  char path[256];
  sct_error err;
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  assert_int_equal(sct_dir_make(path, &err), SCT_OK);
}

static void set(const char *variable, const char *below) {
  char path[256];
  (void)snprintf(path, sizeof(path), "%s/%s", folder, below);
  assert_int_equal(setenv(variable, path, 1), 0);
}

static int clear(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(variables); ++k) {
    if (unsetenv(variables[k]) != 0) {
      return 1;
    }
  }
  return 0;
}

/* Folders of ours, each with a line. */
static bool note(void *ctx, const char *place) {
  sct_str *const out = ctx;
  if (sct_has_prefix(place, folder)) {
    sct_str_printf(out, "%s\n", place + strlen(folder) + 1);
  }
  return false;
}

static void expect(const char *places) {
  sct_str found = {0}, looked = {0};
  assert_false(sct_compile_nvrtc_places(note, &found, &looked));
  assert_string_equal(sct_str_c(&found), places);
  sct_str_free(&found);
  sct_str_free(&looked);
}

static void test_toolkits(void **state) {
  (void)state;
  make("cuda/lib64");
  make("other/lib");
  set("CUDA_HOME", "cuda");
  set("CUDA_PATH", "other");
  expect("cuda/lib64\nother/lib\n");
  assert_int_equal(chdir(folder), 0); /* no library comes from the current folder */
  assert_int_equal(setenv("CUDA_HOME", "cuda", 1), 0);
  expect("other/lib\n");
}

static void test_conda(void **state) {
  (void)state;
  make("conda/lib/python3.11/site-packages/nvidia/cu13/lib");
  make("conda/targets/x86_64-linux/lib");
  set("CONDA_PREFIX", "conda");
  expect("conda/lib\nconda/targets/x86_64-linux/lib\n"
         "conda/lib/python3.11/site-packages/nvidia/cu13/lib\n");
}

static void test_packages(void **state) {
  (void)state;
  make("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
  make("home/.local/lib/python3.9/site-packages/nvidia/cu13/lib");
  set("VIRTUAL_ENV", "venv");
  set("HOME", "home");
  expect("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib\n"
         "home/.local/lib/python3.9/site-packages/nvidia/cu13/lib\n");
}

/* PATH's first python3: its own prefix, that of the file it is a link to, or versions of pyenv. */
static void test_python(void **state) {
  (void)state;
  char link[256], file[256];
  make("env/bin");
  make("env/lib/python3.12/site-packages/nvidia/cu13/lib");
  make("usr/bin");
  make("usr/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib");
  make("pyenv/shims");
  make("pyenv/versions/3.13.0/lib/python3.13/site-packages/nvidia/cu13/lib");
  (void)snprintf(file, sizeof(file), "%s/usr/bin/python3", folder);
  (void)snprintf(link, sizeof(link), "%s/env/bin/python3", folder);
  sct_error err;
  assert_int_equal(sct_file_write(file, "", 0, &err), SCT_OK);
  assert_int_equal(chmod(file, 0755), 0);
  assert_int_equal(symlink(file, link), 0);
  set("PATH", "nowhere:bin:relative");
  expect("");
  set("PATH", "env/bin");
  expect("env/lib/python3.12/site-packages/nvidia/cu13/lib\n"
         "usr/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib\n");
  (void)snprintf(link, sizeof(link), "%s/pyenv/shims/python3", folder);
  assert_int_equal(symlink(file, link), 0);
  set("PATH", "pyenv/shims");
  expect("pyenv/versions/3.13.0/lib/python3.13/site-packages/nvidia/cu13/lib\n");
}

/* Runs this program again, from FOLDER/own/bin, where it lists what it finds. */
static void test_packages_beside_the_program(void **state) {
  (void)state;
  sct_error err;
  sct_str self = {0};
  char program[256], line[256] = "";
  make("own/bin");
  make("own/lib/python3.12/site-packages/nvidia/cu13/lib");
  make("own/lib/python3/dist-packages/nvidia/cu13/lib");
  make("own/nvidia/cu12/lib");
  (void)snprintf(program, sizeof(program), "%s/own/bin/copy", folder);
  assert_int_equal(sct_file_read(&self, "/proc/self/exe", &err), SCT_OK);
  assert_int_equal(sct_file_write(program, self.data, self.len, &err), SCT_OK);
  sct_str_free(&self);
  assert_int_equal(chmod(program, 0755), 0);
  set("CUDA_HOME", "cuda");
  make("cuda/lib64");
  (void)strncat(program, " list", sizeof(program) - strlen(program) - 1);
  FILE *const out = popen(program, "r");
  assert_non_null(out);
  static const char *const expected[] = {
      "cuda/lib64\n", "own/lib/python3.12/site-packages/nvidia/cu13/lib\n",
      "own/lib/python3/dist-packages/nvidia/cu13/lib\n", "own/nvidia/cu12/lib\n"};
  for (int k = 0; k < SCT_COUNT(expected); ++k) {
    assert_non_null(fgets(line, sizeof(line), out));
    assert_string_equal(line + strlen(folder) + 1, expected[k]);
  }
  assert_int_equal(pclose(out), 0);
}

static bool print(void *ctx, const char *place) {
  (void)ctx;
  return puts(place) < 0;
}

static bool stop(void *ctx, const char *place) {
  (void)place;
  ++*(int *)ctx;
  return true;
}

static void test_the_first_that_serves_ends_it(void **state) {
  (void)state;
  int calls = 0;
  sct_str looked = {0};
  make("cuda/lib64");
  set("CUDA_HOME", "cuda");
  assert_true(sct_compile_nvrtc_places(stop, &calls, &looked));
  assert_int_equal(calls, 1);
  assert_non_null(strstr(sct_str_c(&looked), "/cuda/lib64"));
  sct_str_free(&looked);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "list") == 0) {
    sct_str looked = {0};
    (void)sct_compile_nvrtc_places(print, NULL, &looked);
    sct_str_free(&looked);
    return 0;
  }
  if (scratch_make(folder, sizeof(folder), "places") != 0) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_toolkits, clear),
      cmocka_unit_test_setup(test_conda, clear),
      cmocka_unit_test_setup(test_packages, clear),
      cmocka_unit_test_setup(test_python, clear),
      cmocka_unit_test_setup(test_packages_beside_the_program, clear),
      cmocka_unit_test_setup(test_the_first_that_serves_ends_it, clear),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return scratch_remove(folder) == 0 ? failed : 1;
}
