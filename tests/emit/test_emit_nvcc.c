/* Emitted headers through nvcc: no warning, several files of one program, hostile texts, a record
 * that does not fit; and the host side run on a runtime of our own (tests/emit/nvcc), where no GPU
 * is needed to see which kernel a call takes. Skipped where there is no nvcc. */
#include "emit/emit_fixture.h"

#define WARNINGS "-Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror"

static char nvcc[512];

static bool find_nvcc(void) {
  const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  if (system("command -v nvcc >/dev/null 2>&1") == 0) {
    snprintf(nvcc, sizeof(nvcc), "nvcc");
    return true;
  }
  for (int k = 0; k < SCT_COUNT(homes); k++) {
    snprintf(nvcc, sizeof(nvcc), "%s/bin/nvcc", homes[k] != NULL ? homes[k] : "");
    if (homes[k] != NULL && access(nvcc, X_OK) == 0) {
      return true;
    }
  }
  return false;
}

static void write_header(fixture *f, const char *name) {
  sct_str path = {0};
  const sct_emit_request request = {.name = name};
  sct_str_printf(&path, "%s/%s.h", f->folder, name);
  fixture_check(f, sct_emit_write(f->store, &request, sct_str_c(&path), &f->err));
  sct_str_free(&path);
}

/* One store with all headers, written once: nvcc is slow. */
static int setup(void **state) {
  fixture *f = malloc(sizeof(*f));
  fixture_open(f);
  *state = f;
  if (!find_nvcc()) {
    return 0;
  }
  fixture_add_two_devices(f);
  fixture_transpose(f);
  fixture_scale(f);
  fixture_hostile(f);
  fixture_row_sum(f);
  static const char *const names[] = {"add3", "transpose", "scale", "hostile", "row_sum"};
  for (int k = 0; k < SCT_COUNT(names); k++) {
    write_header(f, names[k]);
  }
  return 0;
}

static int teardown(void **state) {
  fixture_close(*state);
  free(*state);
  return 0;
}

/* Runs nvcc with `arguments` in the folder of the headers and gives its status; what it says stays
 * in the file `said`. */
static int run_nvcc(fixture *f, const char *arguments) {
  sct_str command = {0};
  sct_str_printf(&command, "cd '%s' && %s -arch=sm_90 -I. -I'%s/emit/nvcc' %s >said 2>&1",
                 f->folder, nvcc, SCT_TESTS_DIR, arguments);
  const int status = system(sct_str_c(&command));
  sct_str_free(&command);
  return status;
}

static void show_said(fixture *f) {
  sct_str path = {0};
  sct_str said = {0};
  sct_str_printf(&path, "%s/said", f->folder);
  if (sct_file_read(&said, sct_str_c(&path), NULL) == SCT_OK) {
    print_message("%.4000s\n", sct_str_c(&said));
  }
  sct_str_free(&path);
  sct_str_free(&said);
}

static void need_nvcc(void) {
  if (!find_nvcc()) {
    print_message("no nvcc here: emitted headers are not compiled\n");
    skip();
  }
}

static void headers_compile_without_a_warning(void **state) {
  fixture *f = *state;
  need_nvcc();
  static const char *const standards[] = {"c++11", "c++17", "c++20"};
  for (int k = 0; k < SCT_COUNT(standards); k++) {
    char arguments[512];
    snprintf(arguments, sizeof(arguments),
             "-std=%s %s -c '%s/emit/nvcc/includes_only.cu' -o includes_only.o", standards[k],
             WARNINGS, SCT_TESTS_DIR);
    if (run_nvcc(f, arguments) != 0) {
      show_said(f);
      fail_msg("-std=%s: see above", standards[k]);
    }
  }
}

static void calls_take_the_kernel_that_the_contract_says(void **state) {
  fixture *f = *state;
  need_nvcc();
  const int built =
      run_nvcc(f, WARNINGS " -cudart none -o dispatch '" SCT_TESTS_DIR
                           "/emit/nvcc/dispatch.cu' '" SCT_TESTS_DIR
                           "/emit/nvcc/elsewhere.cu' '" SCT_TESTS_DIR "/emit/nvcc/fake_cudart.cc'");
  if (built != 0) {
    show_said(f);
    fail_msg("the program does not build: see above");
  }
  char command[128];
  snprintf(command, sizeof(command), "'%s/dispatch'", f->folder);
  assert_int_equal(system(command), 0);
}

static void a_record_that_does_not_fit_is_refused(void **state) {
  fixture *f = *state;
  need_nvcc();
  assert_int_not_equal(
      run_nvcc(f, "-c '" SCT_TESTS_DIR "/emit/nvcc/wrong_record.cu' -o wrong_record.o"), 0);
  sct_str path = {0};
  sct_str said = {0};
  sct_str_printf(&path, "%s/said", f->folder);
  fixture_check(f, sct_file_read(&said, sct_str_c(&path), &f->err));
  assert_true(has_text(&said, "layout of vec3"));
  sct_str_free(&path);
  sct_str_free(&said);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(headers_compile_without_a_warning),
      cmocka_unit_test(calls_take_the_kernel_that_the_contract_says),
      cmocka_unit_test(a_record_that_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
